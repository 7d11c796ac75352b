// What TensorBoard's event files (events.out.tfevents.*) say of a run: its steps, when, and the memory that it logged.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "oomplan/read/byte_source.hpp"

namespace oomplan::read {

/// So many bytes from the beginning tell such a file.
inline constexpr std::size_t tensorboard_mark_length = 12;

/// Whether bytes that begin like this are such a file: the frame of a first record, its length under a right checksum.
bool is_tensorboard_log(std::string_view begun);

/// A line for each step, "2024-05-01T10:00:00.123Z tensorboard: step 120", with the memory that was logged there in
/// bytes: of the first scalar whose tag speaks of memory that is allocated or active, and names the unit
/// ("memory/max_active(GiB)", "mem-allocated-bytes"). Texts are left out: they are what the run wrote of anything. A
/// record that is damaged, or larger than 64 KiB (a picture, a graph), is left out; where the file is cut, or a frame
/// damaged, what stands before is given. Never fails by itself.
/// Source: TensorFlow, lib/io/record_writer.cc (TFRecord, masked CRC-32C), util/event.proto, framework/summary.proto,
/// framework/tensor.proto.
std::unique_ptr<ByteSource> lines_of_tensorboard(std::unique_ptr<ByteSource> file, std::string begun);

}  // namespace oomplan::read
