#include <optional>
#include <utility>

#include "column_values.hpp"
#include "hash.hpp"
#include "hash_set.hpp"
#include "oomplan/measure/rows.hpp"
#include "room.hpp"
#include "row_stream.hpp"
#include "value_bytes.hpp"

namespace oomplan::measure {

struct RowReader::Reading {
  Reading(std::vector<Shard> shards, ReadOptions read, const Room& room, const Wanted& wanted,
          std::vector<std::string> names)
      : options(std::move(read)),
        key(std::move(names)),
        hashed(wanted.canonical),
        rows(std::move(shards), options, room, wanted, key) {}

  ReadOptions options;
  KeyColumns key;
  bool hashed;
  bool ended = false;
  Diagnostics errors{};  // that ended it, once the rows before are handed on
  RowStream rows;        // its sources hold the memory that a batch's columns are in
  RowBatch batch{CanonicalRows::Keep::hashes};
  std::optional<ColumnValues> columns{};
};

namespace {

Result<std::vector<Shard>> shards_within(const std::vector<std::string>& paths, const Result<Room>& room) {
  if (!room) return room.errors();
  return shards_of(paths, room->free / 8);
}

}  // namespace

RowReader::RowReader(std::unique_ptr<Reading> reading) : reading_(std::move(reading)) {}
RowReader::RowReader(RowReader&&) noexcept = default;
RowReader& RowReader::operator=(RowReader&&) noexcept = default;
RowReader::~RowReader() = default;

Result<RowReader> RowReader::of_values(const std::vector<std::string>& paths, const ReadOptions& options) {
  const Result<Room> room = room_beside(options.budget, 2);
  Result<std::vector<Shard>> shards = shards_within(paths, room);
  if (!shards) return shards.errors();
  return RowReader(std::make_unique<Reading>(std::move(*shards), options, *room, Wanted{.values = true},
                                             std::vector<std::string>{}));
}

Result<RowReader> RowReader::of_hashes(const std::vector<std::string>& paths, const ReadOptions& options,
                                       std::vector<std::string> key) {
  const Result<Room> room = room_beside(options.budget, 2);
  Result<std::vector<Shard>> shards = shards_within(paths, room);
  if (!shards) return shards.errors();
  return RowReader(std::make_unique<Reading>(
      std::move(*shards), options, *room, Wanted{.sizes = true, .canonical = true, .objects = true}, std::move(key)));
}

Result<bool> RowReader::next() {
  reading_->columns.reset();
  if (!reading_->errors.empty()) return std::exchange(reading_->errors, {});
  if (reading_->ended) return false;
  const Result<bool> more = reading_->rows.next(reading_->batch);
  reading_->ended = !more || !*more;
  if (!more) {
    if (reading_->batch.rows == 0) return more.errors();
    reading_->errors = more.errors();  // what was read before stands
  }
  if (reading_->batch.columns && !reading_->hashed) reading_->columns.emplace(reading_->batch.columns);
  return !more || *more;
}

std::int64_t RowReader::rows() const { return reading_->batch.rows; }

void RowReader::tell(std::int64_t row, Values& values) const {
  if (reading_->columns) return reading_->columns->tell(row, values);
  measure::tell(reading_->batch.values[static_cast<std::size_t>(row)], values);
}

std::vector<RowHash> RowReader::hashes() const {
  std::vector<RowHash> out;
  out.reserve(static_cast<std::size_t>(reading_->batch.rows));
  for (const Hash& hash : reading_->batch.canonical.hashes()) out.push_back({hash.high, hash.low});
  return out;
}

const std::vector<std::int64_t>& RowReader::sizes() const { return reading_->batch.sizes; }
const ReadTotals& RowReader::totals() const { return reading_->rows.totals(); }
std::vector<std::string> RowReader::unseen_columns() const { return reading_->key.unseen(); }

struct SeenTexts::Set {
  HashSet hashes{0};
};

SeenTexts::SeenTexts() : set_(std::make_unique<Set>()) {}
SeenTexts::~SeenTexts() = default;

bool SeenTexts::insert(std::string_view bytes, std::uint8_t kind) {
  Hash hash = hash_of(bytes);
  hash.low ^= kind;
  return set_->hashes.insert(hash);
}

}  // namespace oomplan::measure
