#include "hash_set.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace oomplan::measure {
namespace {

constexpr std::size_t page = 4096;
constexpr double most_full = 0.90;
constexpr double full_after_growth = 0.82;

std::size_t pages_for(std::size_t slots) { return (slots * sizeof(Hash) + page - 1) / page * page; }

/// Whether the place holds a smaller hash; an empty one does not.
bool comes_before(const Hash& slot, const Hash& hash) {
  if (slot.high != hash.high) return slot.high - 1 < hash.high - 1;
  return slot.low < hash.low;
}

}  // namespace

std::int64_t HashSet::bytes() const { return static_cast<std::int64_t>(slots_ ? pages_for(total_) : 0); }

void HashSet::clear() {
  if (slots_ != nullptr) ::munmap(slots_, pages_for(total_));
  slots_ = nullptr;
  homes_ = total_ = size_ = 0;
}

bool HashSet::insert(Hash hash) {
  if (static_cast<double>(size_ + 1) > most_full * static_cast<double>(homes_)) grow(0);
  std::size_t at = home(hash, homes_);
  while (at < total_ && comes_before(slots_[at], hash)) ++at;
  if (at < total_ && slots_[at] == hash) return false;
  std::size_t gap = at;
  while (gap < total_ && slots_[gap].high != 0) ++gap;
  if (gap >= total_) {
    grow(homes_ + homes_ / 8 + 1);
    return insert(hash);
  }
  std::memmove(slots_ + at + 1, slots_ + at, (gap - at) * sizeof(Hash));
  slots_[at] = hash;
  ++size_;
  return true;
}

void HashSet::resize(std::size_t total) {
  const std::size_t before = slots_ ? pages_for(total_) : 0;
  const std::size_t after = pages_for(total);
  void* memory = slots_;
  if (slots_ == nullptr) {
    memory = ::mmap(nullptr, after, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  } else if (after != before) {
    memory = ::mremap(slots_, before, after, MREMAP_MAYMOVE);
  }
  if (memory == MAP_FAILED) throw std::bad_alloc();
  slots_ = static_cast<Hash*>(memory);
  total_ = total;
}

void HashSet::grow(std::size_t homes) {
  homes =
      std::max({homes, std::size_t{200}, static_cast<std::size_t>(static_cast<double>(size_ + 1) / full_after_growth)});
  while (!spread(homes)) homes += homes / 8;
}

/// Moves the hashes to the end of the larger table, and from there each to its new place, which is never behind where
/// it stands. False where the last ones have no room, and then all are still there and in order.
bool HashSet::spread(std::size_t homes) {
  const std::size_t old_total = total_;
  resize(std::max(homes + homes / 64 + 40, total_));
  std::size_t from = total_;
  for (std::size_t i = old_total; i-- > 0;) {
    if (slots_[i].high == 0) continue;
    const Hash hash = std::exchange(slots_[i], Hash{});
    slots_[--from] = hash;
  }
  homes_ = homes;
  for (std::size_t next = 0; from < total_; ++from, ++next) {
    next = std::max(next, home(slots_[from], homes));
    if (next > from) return false;
    const Hash hash = std::exchange(slots_[from], Hash{});
    slots_[next] = hash;
  }
  return true;
}

}  // namespace oomplan::measure
