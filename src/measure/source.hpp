// A file of rows. Each file in sources/ reads one data format.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "key_columns.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/read/byte_source.hpp"
#include "room.hpp"
#include "row_batch.hpp"
#include "shards.hpp"

namespace oomplan::measure {

/// Told of a bad row: whether to go on behind it.
using Skip = std::function<bool(const Diagnostic&)>;

/// What a source reads from, and what is wanted of it.
struct Input {
  std::string path{};
  std::unique_ptr<read::ByteSource> bytes{};  ///< Unpacked, from the beginning; of a part's lines, only those.
  std::optional<Part> part{};
  bool packed = false;  ///< The file itself is compressed.
  Room room{};
  Wanted wanted{};
  KeyColumns* key = nullptr;
  Skip skip{};
};

class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;
  /// Fills the empty `out` with the next rows, about room.batch bytes of them or one; false where there are no more.
  virtual Result<bool> next(RowBatch& out) = 0;
  /// How many rows the file itself says that it has, where it says so. Known before the first row.
  virtual std::optional<std::int64_t> declared() const { return std::nullopt; }
};

using OpenSource = Result<std::unique_ptr<RowSource>> (*)(Input);

namespace sources {
#define OOMPLAN_ENTRY(name) Result<std::unique_ptr<RowSource>> name(Input input);
#include "registry/sources.inc"
#undef OOMPLAN_ENTRY
}  // namespace sources

/// False where the row is left out, else the error.
Result<bool> leave_out(const Skip& skip, Diagnostic error);
Diagnostic bad_row(const std::string& path, std::int64_t row, std::int64_t offset, const std::string& why);
Diagnostic bad_file(const std::string& path, const std::string& why);

}  // namespace oomplan::measure
