// The first reading of a dataset whose duplicates are wanted: which rows equal one before them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "distinct.hpp"
#include "key_columns.hpp"
#include "oomplan/measure/measure.hpp"
#include "room.hpp"
#include "row_stream.hpp"
#include "shards.hpp"
#include "units.hpp"

namespace oomplan::measure {

/// Hashes of rows in order, by as many threads as there may be.
class FirstReading {
 public:
  /// `shards` and what `options` refers to must outlive it.
  FirstReading(const std::vector<Shard>& shards, const ReadOptions& options, const Room& room, const KeyColumns& key);
  /// Into the Distinct that `start` begins anew: once, and again where several threads come upon what a share of the
  /// budget does not hold, or what is wrong, which is found again as one thread finds it. Errors: those of reading and
  /// of Distinct.
  Diagnostics find_duplicates(std::optional<Distinct>& distinct, const std::function<void()>& start);
  const ReadTotals& totals() const { return totals_; }
  /// With the columns that were seen.
  const KeyColumns& key() const { return key_; }

 private:
  /// Some rows, or the end of a unit.
  struct HashedRows {
    std::vector<Hash> hashes{};
    std::optional<ReadTotals> totals{};  // of the unit, at its end
    KeyColumns key{};                    // with what it has seen then
  };
  bool together(Distinct& distinct);
  void end_unit(const HashedRows& rows, std::size_t number);
  Diagnostics alone(Distinct& distinct);
  Diagnostics in_turn(RowStream& rows, Distinct& distinct);
  Diagnostics ahead(RowStream& rows, Distinct& distinct);
  bool take(const HashedRows& rows, Distinct& distinct);
  template <class Emit>
  Result<bool> give(RowStream& rows, const Emit& emit);

  const std::vector<Shard>& shards_;
  const ReadOptions& options_;
  const Room room_;
  KeyColumns key_;
  const Units units_;
  ReadTotals totals_{};
  Diagnostics refused_{};  // by Distinct
};

}  // namespace oomplan::measure
