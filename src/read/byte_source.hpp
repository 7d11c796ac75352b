// Bytes from a file, a descriptor or memory, a piece at a time, unpacked where they are compressed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "descriptor.hpp"
#include "oomplan/result.hpp"

namespace oomplan::read {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;
  /// Fills `out` with up to `most` (> 0) bytes and says how many; 0 at the end.
  virtual Result<std::size_t> read(char* out, std::size_t most) = 0;
};

/// Of a descriptor that stays open, of one that is closed at the end, of memory that must outlive it.
std::unique_ptr<ByteSource> bytes_of(int descriptor, const std::string& name);
std::unique_ptr<ByteSource> bytes_of(Descriptor owned, const std::string& name);
std::unique_ptr<ByteSource> bytes_of(std::string_view memory);

/// The file's own bytes, a pipe's or device's too; "-" is standard input.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// The first `most` bytes, fewer where there are no more.
Result<std::string> first_bytes(ByteSource& source, std::size_t most);

/// `packed` with `begun`, the bytes already read from it, put back, and unpacked where those are gzip or zstd. Reading
/// then fails with read/truncated or read/damaged where the compressed data is cut short or broken.
std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, std::string begun, const std::string& path);
/// The same with nothing read from it yet.
Result<std::unique_ptr<ByteSource>> unpacked(std::unique_ptr<ByteSource> packed, const std::string& path);

std::unique_ptr<ByteSource> gunzipped(std::unique_ptr<ByteSource> packed, const std::string& path);
std::unique_ptr<ByteSource> unzstded(std::unique_ptr<ByteSource> packed, const std::string& path);

Diagnostic cut_short(const std::string& path);
Diagnostic broken(const std::string& path, const std::string& why);

}  // namespace oomplan::read
