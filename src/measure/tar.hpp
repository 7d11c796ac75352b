// The files in a tar archive, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/read/byte_source.hpp"

namespace oomplan::measure {

struct TarEntry {
  std::string name{};
  std::int64_t size = 0;
};

/// A piece of a file that is stored; what lies between such pieces is zeros.
struct Stored {
  std::int64_t begin = 0;
  std::int64_t size = 0;
};

/// What headers before a file say of it.
struct TarExtension {
  std::optional<std::string> name{};
  std::optional<std::int64_t> size{};   ///< As stored.
  std::optional<std::int64_t> whole{};  ///< With its holes.
  std::vector<Stored> stored{};
  bool sparse = false;
  bool map_in_file = false;  ///< The list of pieces stands before the contents.
};

/// ustar, pax and GNU archives, sparse files of all kinds too. What is no plain file is passed over.
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
  Result<bool> extend(char type, TarExtension& out);
  Result<bool> pass_over();
  Result<bool> old_map(std::string_view block, TarExtension& out);
  Result<bool> more_of_old_map(TarExtension& out);
  Result<bool> map_in_file(TarExtension& out);
  Result<TarEntry> sparse(TarEntry entry, TarExtension extension);
  Result<TarEntry> entry_of(std::string_view block, TarExtension extension);
  Result<std::size_t> read_stored(char* out, std::size_t most);
  Diagnostic bad_member(const std::string& name, const std::string& why) const;

  std::unique_ptr<read::ByteSource> bytes_;
  std::string path_;
  std::int64_t left_ = 0;     // of the entry, as it is stored
  std::int64_t padding_ = 0;  // behind it
  std::int64_t offset_ = 0;   // in the archive, of what is read next
  std::int64_t at_ = 0;       // in the entry with its holes,
  std::int64_t end_ = 0;      // which is so long
  std::vector<Stored> stored_{};
  std::size_t next_ = 0;  // of stored_
};

}  // namespace oomplan::measure
