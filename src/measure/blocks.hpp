// A dataset as blocks that can each be read alone: row groups of Parquet, a mebibyte of lines, and files of all else.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "oomplan/measure/measure.hpp"
#include "room.hpp"
#include "row_groups.hpp"
#include "shards.hpp"

namespace oomplan::measure {

struct Block {
  Shard shard{};              ///< With the part that the block is.
  std::string_view format{};  ///< As ReadOptions::format; "" where it is not known.
  double bytes = 0;           ///< Its share of the dataset's bytes; those of all blocks add up to them.
  friend bool operator==(const Block&, const Block&) = default;
};

class Blocks {
 public:
  /// Looks at the beginning of each file, and at the footers of Parquet. Errors: those of reading; measure/no-sample
  /// for what is no file. Where bad rows are skipped, a file that cannot be read is left out and told.
  static Result<Blocks> of(std::vector<Shard> shards, const ReadOptions& options, const Room& room);

  std::int64_t count() const { return count_; }
  std::int64_t bytes() const { return begins_.back(); }
  /// Of all files, where each says it.
  std::optional<std::int64_t> rows() const { return rows_; }
  /// The one that holds a byte, counted over all files. Quick where the next one asked for is in the same file.
  Result<Block> at(std::int64_t byte);

 private:
  struct File {
    Shard shard{};
    std::string_view format{};
    std::int64_t blocks = 1;
  };
  Result<bool> add(const Shard& shard, const ReadOptions& options, const Room& room);
  Result<Block> row_group_at(std::size_t file, std::int64_t byte);

  Room room_{};
  std::vector<File> files_{};
  std::vector<std::int64_t> begins_{0};  // of each file, and the end of the last
  std::int64_t count_ = 0;
  std::optional<std::int64_t> rows_{0};
  std::optional<std::size_t> looked_at_{};  // the file whose row groups these are
  std::vector<RowGroup> groups_{};
};

}  // namespace oomplan::measure
