// What only this stage knows of byte sources: descriptors, and the kinds of compression one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "descriptor.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/byte_source.hpp"

namespace oomplan::read {

/// Of a descriptor that stays open, of one that is closed at the end.
std::unique_ptr<ByteSource> bytes_of(int descriptor, const std::string& name);
std::unique_ptr<ByteSource> bytes_of(Descriptor owned, const std::string& name);

std::unique_ptr<ByteSource> gunzipped(std::unique_ptr<ByteSource> packed, const std::string& path);
std::unique_ptr<ByteSource> unzstded(std::unique_ptr<ByteSource> packed, const std::string& path, int window_log);
/// Where the library was not there when this was built, they are refused.
std::unique_ptr<ByteSource> unbzip2ed(std::unique_ptr<ByteSource> packed, const std::string& path);
/// `room` is what unpacking may take. Error: read/needs-memory.
std::unique_ptr<ByteSource> unxzed(std::unique_ptr<ByteSource> packed, const std::string& path, std::int64_t room);

/// Has only this error to give.
std::unique_ptr<ByteSource> refused(Diagnostic error);

/// Gives an unpacking library's stream, whose input is used up, the next piece: whether there is one.
template <class Stream, class Byte>
Result<bool> refill(Stream& stream, ByteSource& packed, std::vector<Byte>& piece) {
  if (stream.avail_in > 0) return true;
  const Result<std::size_t> got = packed.read(reinterpret_cast<char*>(piece.data()), piece.size());
  if (!got) return got.errors();
  stream.next_in = piece.data();
  stream.avail_in = static_cast<decltype(stream.avail_in)>(*got);
  return *got > 0;
}

Diagnostic no_library(const std::string& path, const std::string& kind);
Diagnostic cut_short(const std::string& path);
/// Unpacking takes `needed` bytes, and there may be `room`.
Diagnostic needs_memory(const std::string& path, std::int64_t needed, std::int64_t room);
Diagnostic broken(const std::string& path, const std::string& why);

}  // namespace oomplan::read
