// A dataset as units that several threads can read at once.
#pragma once

#include <cstddef>
#include <vector>

#include "oomplan/measure/measure.hpp"
#include "room.hpp"
#include "shards.hpp"

namespace oomplan::measure {

struct Units {
  std::vector<Shard> shards{};  ///< Files, and row groups of Parquet, in order; none where one thread reads.
  std::size_t threads = 1;      ///< How many read at once.
  Room room{};                  ///< Of each thread.
};

/// As many threads as are asked for and the budget has room for. One alone where bad rows are skipped, so that they are
/// told in order, and where something is no file, which could not be read again.
Units units_of(const std::vector<Shard>& shards, const ReadOptions& options, const Room& room);

/// One a core where none are asked for.
std::size_t threads_of(const ReadOptions& options);

}  // namespace oomplan::measure
