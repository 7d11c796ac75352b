// The files that a command line names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan::measure {

/// A piece of a file that is read by itself: the lines that begin in bytes [begin, end), or Parquet's row group
/// `begin`.
struct Part {
  bool lines = false;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  friend bool operator==(const Part&, const Part&) = default;
};

/// A file as it was when it was named, so that a second look can tell whether it changed.
struct Shard {
  std::string path{};
  std::int64_t size = 0;
  std::int64_t modified = 0;   ///< Nanoseconds.
  std::optional<Part> part{};  ///< Only this is read.
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// Files, "-", the files below directories (also behind links; left out are hidden ones and JSON that describes
/// a saved dataset) and what globs match; each
/// argument's files in the order of their names, digits compared as numbers. `most` bytes hold their names. Errors:
/// measure/no-data, read/missing, read/unreadable, measure/over-budget.
Result<std::vector<Shard>> shards_of(const std::vector<std::string>& paths, std::int64_t most);

}  // namespace oomplan::measure
