// Bytes from a file, a descriptor or memory, a piece at a time, unpacked where they are compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "descriptor.hpp"

namespace oomplan::read {

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// How many bytes of `room` (not empty) it filled; 0 at the end.
  virtual Result<std::size_t> fill(std::span<char> room) = 0;
};

/// Of an open descriptor; `owned` is closed at the end.
std::unique_ptr<ByteStream> stream_of(int descriptor, Descriptor owned, std::string name);
std::unique_ptr<ByteStream> stream_of(std::string_view bytes);

/// `packed` itself, or what it holds where it begins as zstd does. Errors: read/truncated, read/damaged.
std::unique_ptr<ByteStream> unpacked(std::unique_ptr<ByteStream> packed, std::string name);

}  // namespace oomplan::read
