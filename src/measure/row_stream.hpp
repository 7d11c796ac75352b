// The rows of all shards, one after another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format.hpp"
#include "oomplan/measure/measure.hpp"
#include "shards.hpp"
#include "source.hpp"

namespace oomplan::measure {

class RowStream {
 public:
  /// `key` and what `options` refers to must outlive it.
  RowStream(std::vector<Shard> shards, const ReadOptions& options, const Room& room, const Wanted& wanted,
            KeyColumns& key);
  /// As RowSource::next, over all shards. A broken shard is passed over where bad rows are skipped; otherwise it is the
  /// error. Also measure/row-count, where a file has other rows than it says.
  Result<bool> next(RowBatch& out);
  const ReadTotals& totals() const { return totals_; }
  const std::vector<Shard>& shards() const { return shards_; }

 private:
  Result<bool> open(const Shard& shard);
  Result<Input> input_of(const Shard& shard);
  Result<bool> close();
  bool skip(const Diagnostic& error);
  void tell_share() const;
  Result<bool> give_up(Diagnostics errors);

  std::vector<Shard> shards_;
  const ReadOptions& options_;
  Room room_;
  Wanted wanted_;
  KeyColumns& key_;
  std::size_t next_ = 0;
  std::int64_t all_bytes_ = 0;
  std::int64_t position_ = 0;  // in the file that is open, of those that are read from front to end
  std::unique_ptr<RowSource> source_{};
  FileTotals file_{};
  ReadTotals totals_{};
};

}  // namespace oomplan::measure
