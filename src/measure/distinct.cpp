#include "distinct.hpp"

#include <algorithm>
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

Distinct::Distinct(const Room& room, std::string tmp)
    : room_(room), file_(std::move(tmp)), parts_(part_count), in_memory_(part_count) {
  const auto bytes = static_cast<std::size_t>(std::clamp<std::int64_t>(room.free / 32, 1 << 19, 4 << 20));
  for (Part& part : parts_) part.waiting.reserve(bytes / part_count / sizeof(HashedRow));
}

Result<bool> Distinct::mark(std::int64_t row) {
  duplicates_.insert(row);
  if (duplicates_.bytes() <= room_.free / 4) return true;
  return over_budget({}, "the list of duplicates", 2 * duplicates_.bytes(), room_.free / 4);
}

// Rows wait until there are some hundreds for one part: places in one table can be asked for ahead, where those in all
// tables together would be on too many pages.
Result<bool> Distinct::add(Hash hash) {
  Part& part = parts_[part_of(hash, 0)];
  part.waiting.push_back({hash, rows_++});
  return part.waiting.size() < part.waiting.capacity() ? Result<bool>(true) : flush(part);
}

Result<bool> Distinct::flush(Part& part) {
  constexpr std::size_t ahead = 12;
  for (std::size_t i = 0; i < part.waiting.size(); ++i) {
    if (i + ahead < part.waiting.size()) part.set.prefetch(part.waiting[i + ahead].hash);
    if (Result<bool> inserted = insert(part, part.waiting[i]); !inserted) return inserted;
  }
  part.waiting.clear();
  return table_bytes_ > room_.table ? make_room() : Result<bool>(true);
}

Result<bool> Distinct::insert(Part& part, const HashedRow& row) {
  if (part.on_disk) return part.spill.add(row, file_);
  const std::int64_t before = part.set.bytes();
  const bool is_new = part.set.insert(row.hash);
  table_bytes_ += part.set.bytes() - before;
  most_table_bytes_ = std::max(most_table_bytes_, table_bytes_);
  return is_new ? Result<bool>(true) : mark(row.row);
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
  for (Part& part : parts_) {
    if (Result<bool> flushed = flush(part); !flushed) return flushed;
    part.waiting = {};
  }
  for (Part& part : parts_) part.set.clear();
  for (Part& part : parts_) {
    if (Result<bool> settled = settle(std::exchange(part.spill, {}), part_bits); !settled) return settled;
  }
  return true;
}

Result<bool> Distinct::settle(Spill spill, int shared_bits) {
  // Past the last bits there is nothing left to split by; that many rows of such equal hashes do not come.
  if (spill.size() * bytes_of_hash > room_.table && shared_bits + part_bits < 48)
    return split(std::move(spill), shared_bits);
  HashSet set(shared_bits);
  return spill.drain(file_, [&](const HashedRow& row) -> Result<bool> {
    return set.insert(row.hash) || row.row == seen_before ? Result<bool>(true) : mark(row.row);
  });
}

Result<bool> Distinct::split(Spill spill, int shared_bits) {
  std::vector<Spill> parts(part_count);
  Result<bool> written =
      spill.drain(file_, [&](const HashedRow& row) { return parts[part_of(row.hash, shared_bits)].add(row, file_); });
  if (!written) return written;
  for (Spill& part : parts) {
    if (Result<bool> settled = settle(std::exchange(part, {}), shared_bits + part_bits); !settled) return settled;
  }
  return true;
}

}  // namespace oomplan::measure
