#include "first_reading.hpp"

#include "in_order.hpp"
#include "totals.hpp"

namespace oomplan::measure {

FirstReading::FirstReading(const std::vector<Shard>& shards, const ReadOptions& options, const Room& room,
                           const KeyColumns& key)
    : shards_(shards), options_(options), room_(room), key_(key), units_(units_of(shards, options, room)) {}

Diagnostics FirstReading::find_duplicates(std::optional<Distinct>& distinct, const std::function<void()>& start) {
  start();
  if (units_.threads == 1 || !together(*distinct)) {
    if (!refused_.empty()) return std::move(refused_);
    if (units_.threads > 1) start();
    if (Diagnostics errors = alone(*distinct); !errors.empty()) return errors;
  }
  const Result<bool> finished = distinct->finish();
  return finished ? Diagnostics{} : finished.errors();
}

/// All rows of a stream; false where no more were wanted.
template <class Emit>
Result<bool> FirstReading::give(RowStream& rows, const Emit& emit) {
  RowBatch batch(CanonicalRows::Keep::hashes);
  while (true) {
    Result<bool> more = rows.next(batch);
    if (!more) return more;
    if (!*more) return true;
    if (!emit({.hashes = batch.canonical.hashes()})) return false;
    if (units_.threads == 1 && options_.on_progress) options_.on_progress(rows.totals().rows, rows.totals().decoded);
  }
}

bool FirstReading::take(const HashedRows& rows, Distinct& distinct) {
  const Result<bool> added = distinct.add(rows.hashes);
  if (!added) refused_ = added.errors();
  return added.ok();
}

/// False where a unit failed, or Distinct refused.
bool FirstReading::together(Distinct& distinct) {
  ReadOptions quiet = options_;
  quiet.on_progress = {};
  quiet.on_share = {};
  const auto read = [&](std::size_t unit, const auto& emit) -> Result<bool> {
    KeyColumns key = key_;
    RowStream rows({units_.shards[unit]}, quiet, units_.room, {.canonical = true}, key);
    if (Result<bool> given = give(rows, emit); !given || !*given) return given;
    return emit({.totals = rows.totals(), .key = std::move(key)});
  };
  InOrder<HashedRows> read_ahead(units_.shards.size(), units_.threads, read);
  std::int64_t begun = 0;  // rows of the unit at hand
  for (HashedRows rows; read_ahead.next(rows);) {
    if (!take(rows, distinct)) return false;
    begun = rows.totals ? 0 : begun + static_cast<std::int64_t>(rows.hashes.size());
    if (rows.totals) end_unit(rows, read_ahead.done());
    if (options_.on_progress) options_.on_progress(totals_.rows + begun, totals_.decoded);
  }
  return read_ahead.done() == units_.shards.size();
}

void FirstReading::end_unit(const HashedRows& rows, std::size_t number) {
  const Shard& unit = units_.shards[number];
  add(totals_, *rows.totals, unit.part && unit.part->begin > 0);
  key_.see(rows.key);
  if (options_.on_share) options_.on_share(static_cast<double>(number) / static_cast<double>(units_.shards.size()));
}

Diagnostics FirstReading::alone(Distinct& distinct) {
  RowStream rows(shards_, options_, room_, {.canonical = true}, key_);
  Diagnostics errors = threads_of(options_) > 1 ? ahead(rows, distinct) : in_turn(rows, distinct);
  totals_ = rows.totals();
  return errors;
}

Diagnostics FirstReading::in_turn(RowStream& rows, Distinct& distinct) {
  const Result<bool> given = give(rows, [&](HashedRows&& some) { return take(some, distinct); });
  return given ? std::move(refused_) : given.errors();
}

/// Reading in one thread, telling duplicates in this one.
Diagnostics FirstReading::ahead(RowStream& rows, Distinct& distinct) {
  Diagnostics errors;
  const auto read = [&](std::size_t, const auto& emit) -> Result<bool> {
    const Result<bool> given = give(rows, emit);
    if (!given) errors = given.errors();
    return given;
  };
  InOrder<HashedRows> read_ahead(1, 1, read);
  if (read_ahead.threads() == 0) return in_turn(rows, distinct);
  for (HashedRows some; read_ahead.next(some);) {
    if (!take(some, distinct)) return std::move(refused_);
  }
  read_ahead.rethrow();
  return errors;
}

}  // namespace oomplan::measure
