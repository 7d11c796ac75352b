#include "distinct.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace oomplan::measure {
namespace {

constexpr int part_bits = 8;
constexpr std::size_t part_count = std::size_t{1} << part_bits;
constexpr std::int64_t seen_before = -1;  // in place of a row: the hash was in the table
constexpr std::int64_t bytes_of_hash = 20;

std::size_t part_of(Hash hash, int shared_bits) {
  return static_cast<std::size_t>(hash.high << shared_bits >> (64 - part_bits));
}

}  // namespace

Distinct::Distinct(const Room& room, std::string tmp) : room_(room), file_(std::move(tmp)), in_memory_(part_count) {
  for (std::size_t i = 0; i < part_count; ++i) {
    parts_.push_back({.set = HashSet(part_bits, static_cast<double>(i) / part_count)});
  }
  const std::int64_t each = sizeof(Hash) + sizeof(HashedRow);
  most_waiting_ = static_cast<std::size_t>(std::clamp<std::int64_t>(room.free / 8 / each, 1 << 14, 1 << 20));
}

Result<bool> Distinct::check_duplicates() const {
  if (duplicates_.bytes() <= room_.free / 4) return true;
  return over_budget({}, "the list of duplicates", 2 * duplicates_.bytes(), room_.free / 4);
}

Result<bool> Distinct::add(std::span<const Hash> hashes) {
  while (!hashes.empty()) {
    const std::size_t count = std::min(hashes.size(), most_waiting_ - waiting_.size());
    waiting_.insert(waiting_.end(), hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(count));
    hashes = hashes.subspan(count);
    if (waiting_.size() < most_waiting_) break;
    if (Result<bool> flushed = flush(); !flushed) return flushed;
  }
  return true;
}

// Many rows at once, part by part: places in one table can be asked for ahead, where those in all tables together would
// be on too many pages.
Result<bool> Distinct::flush() {
  std::array<std::size_t, part_count + 1> begins{};
  for (const Hash& hash : waiting_) ++begins[part_of(hash, 0) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  if (sorted_.size() < waiting_.size()) sorted_.resize(waiting_.size());  // few rows take little
  auto next = begins;
  for (const Hash& hash : waiting_) sorted_[next[part_of(hash, 0)]++] = {hash, rows_++};
  waiting_.clear();
  for (std::size_t i = 0; i < part_count; ++i) {
    const std::span rows(sorted_.data() + begins[i], begins[i + 1] - begins[i]);
    if (parts_[i].on_disk) {
      if (Result<bool> written = to_disk(parts_[i], rows); !written) return written;
    } else {
      const std::int64_t before = parts_[i].set.bytes();
      insert(parts_[i].set, rows);
      table_bytes_ += parts_[i].set.bytes() - before;
      most_table_bytes_ = std::max(most_table_bytes_, table_bytes_);
    }
    if (table_bytes_ <= room_.table) continue;
    if (Result<bool> made = make_room(); !made) return made;
  }
  return check_duplicates();
}

Result<bool> Distinct::to_disk(Part& part, std::span<const HashedRow> rows) {
  for (const HashedRow& row : rows) {
    if (Result<bool> added = part.spill.add(row, file_); !added) return added;
  }
  return true;
}

void Distinct::insert(HashSet& set, std::span<const HashedRow> rows) {
  constexpr std::size_t ahead = 24;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + ahead < rows.size()) set.prefetch(rows[i + ahead].hash);
    if (set.insert(rows[i].hash) || rows[i].row == seen_before) continue;
    duplicates_.insert(rows[i].row);
    if (filter_ != nullptr) filter_->insert(rows[i].hash);
  }
}

/// Only so many parts at once that the disk is not asked for each new row.
Result<bool> Distinct::make_room() {
  while (in_memory_ > 0 && table_bytes_ > room_.table * 9 / 10) {
    if (Result<bool> moved = move_to_disk(parts_[--in_memory_]); !moved) return moved;
  }
  return true;
}

Result<bool> Distinct::move_to_disk(Part& part) {
  Result<bool> written = true;
  part.set.each([&](Hash hash) {
    if (written) written = part.spill.add({hash, seen_before}, file_);
  });
  table_bytes_ -= part.set.bytes();
  part.set.clear();
  part.on_disk = true;
  return written;
}

Result<bool> Distinct::finish() {
  if (Result<bool> flushed = flush(); !flushed) return flushed;
  waiting_ = {};
  sorted_ = {};
  for (Part& part : parts_) part.set.clear();
  for (Part& part : parts_) {
    if (Result<bool> settled = settle(std::exchange(part.spill, {}), part_bits); !settled) return settled;
  }
  return true;
}

Result<bool> Distinct::settle(Spill<HashedRow> spill, int shared_bits) {
  if (spill.size() == 0) return true;
  // Past the last bits there is nothing left to split by; that many rows of such equal hashes do not come.
  if (spill.size() * bytes_of_hash > room_.table && shared_bits + part_bits < 48)
    return split(std::move(spill), shared_bits);
  HashSet set(shared_bits);
  set.reserve(static_cast<std::size_t>(std::min(spill.size(), room_.table / bytes_of_hash)));
  const Result<bool> drained = spill.drain(file_, [&](std::span<const HashedRow> rows) -> Result<bool> {
    insert(set, rows);
    return true;
  });
  return drained ? check_duplicates() : drained;
}

Result<bool> Distinct::split(Spill<HashedRow> spill, int shared_bits) {
  std::vector<Spill<HashedRow>> parts(part_count);
  Result<bool> written = spill.drain(file_, [&](std::span<const HashedRow> rows) -> Result<bool> {
    for (const HashedRow& row : rows) {
      if (Result<bool> added = parts[part_of(row.hash, shared_bits)].add(row, file_); !added) return added;
    }
    return true;
  });
  if (!written) return written;
  for (Spill<HashedRow>& part : parts) {
    if (Result<bool> settled = settle(std::exchange(part, {}), shared_bits + part_bits); !settled) return settled;
  }
  return true;
}

}  // namespace oomplan::measure
