// Where the bytes of a log come from: a descriptor, and what unpacks it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

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

/// The file's own bytes; "-" is standard input.
Result<std::unique_ptr<ByteSource>> open_bytes(const std::string& path);

/// `packed` with `begun`, the bytes already read from it, put back, and unpacked where those are gzip or zstd.
std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, std::string begun, const std::string& path);

std::unique_ptr<ByteSource> gunzipped(std::unique_ptr<ByteSource> packed, const std::string& path);
std::unique_ptr<ByteSource> unzstded(std::unique_ptr<ByteSource> packed, const std::string& path);

Diagnostic damaged(const std::string& path, const std::string& what);

}  // namespace oomplan::read
