#include "live_ids.hpp"

#include <bit>
#include <utility>

namespace oomplan::read {

// The multiplier spreads ids that count up; the upper bits are the mixed ones.
std::size_t LiveIds::home(std::int64_t id) const {
  constexpr std::uint64_t golden = 0x9E3779B97F4A7C15;
  const std::uint64_t mixed = (static_cast<std::uint64_t>(id) ^ (static_cast<std::uint64_t>(id) >> 32U)) * golden;
  return static_cast<std::size_t>(mixed >> (64U - static_cast<unsigned>(std::countr_zero(table_.size()))));
}

std::size_t LiveIds::find(std::int64_t id) const {
  std::size_t at = home(id);
  while (table_[at].slot != unused && table_[at].id != id) at = (at + 1) & (table_.size() - 1);
  return at;
}

void LiveIds::grow() {
  std::vector<Row> old = std::exchange(table_, std::vector<Row>(2 * table_.size()));
  for (const Row& row : old) {
    if (row.slot != unused) table_[find(row.id)] = row;
  }
}

std::optional<std::uint32_t> LiveIds::add(std::int64_t id) {
  if (2 * std::size_t{count_} >= table_.size()) grow();
  Row& row = table_[find(id)];
  if (row.slot != unused) return std::nullopt;
  row = {id, count_++};
  if (!free_slots_.empty()) {
    row.slot = free_slots_.back();
    free_slots_.pop_back();
  }
  return row.slot;
}

std::optional<std::uint32_t> LiveIds::remove(std::int64_t id) {
  std::size_t hole = find(id);
  const std::uint32_t slot = table_[hole].slot;
  if (slot == unused) return std::nullopt;
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = (hole + 1) & mask; table_[at].slot != unused; at = (at + 1) & mask) {
    const std::size_t wanted = home(table_[at].id);
    if (((at - wanted) & mask) < ((at - hole) & mask)) continue;  // it would no longer be found from its home
    table_[hole] = table_[at];
    hole = at;
  }
  table_[hole].slot = unused;
  free_slots_.push_back(slot);
  --count_;
  return slot;
}

}  // namespace oomplan::read
