// The files in a tar archive, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "oomplan/byte_source.hpp"
#include "oomplan/result.hpp"

namespace oomplan::measure {

struct TarEntry {
  std::string name{};
  std::int64_t size = 0;
};

/// ustar, pax and GNU archives. What is no plain file is passed over.
class Tar {
 public:
  Tar(std::unique_ptr<read::ByteSource> bytes, std::string path) : bytes_(std::move(bytes)), path_(std::move(path)) {}
  /// The next file, what was left of the one before passed over; nothing at the end of the archive.
  /// Errors: the bytes' own; read/truncated; measure/bad-file.
  Result<std::optional<TarEntry>> next();
  /// The contents of the entry at hand, a piece at a time; 0 at its end.
  Result<std::size_t> read(char* out, std::size_t most);

 private:
  enum class Block : std::uint8_t { header, zeros, end };
  Result<Block> block(char* out);
  Result<std::string> extension(std::int64_t size);
  Result<bool> pass_over();

  std::unique_ptr<read::ByteSource> bytes_;
  std::string path_;
  std::int64_t left_ = 0;     // of the entry
  std::int64_t padding_ = 0;  // behind it
  std::int64_t offset_ = 0;   // in the archive, of what is read next
};

}  // namespace oomplan::measure
