#include "hash_set.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace oomplan::measure {
namespace {

constexpr std::size_t page = 4096;
constexpr double most_full = 0.94;
constexpr std::size_t hashes_in_line = 4;

std::size_t pages_for(std::size_t lines) { return (lines * hashes_in_line * sizeof(Hash) + page - 1) / page * page; }

}  // namespace

HashSet::HashSet(int shared_bits, double phase)
    : shift_(shared_bits), first_lines_(static_cast<std::size_t>(48 * std::pow(1.25, phase))) {}

std::int64_t HashSet::bytes() const { return static_cast<std::int64_t>(lines_ ? pages_for(total_) : 0); }

void HashSet::clear() {
  if (lines_ != nullptr) ::munmap(lines_, pages_for(total_));
  lines_ = nullptr;
  homes_ = total_ = size_ = most_ = 0;
}

void HashSet::resize(std::size_t total) {
  const std::size_t before = lines_ ? pages_for(total_) : 0;
  const std::size_t after = pages_for(total);
  void* memory = lines_;
  if (lines_ == nullptr) {
    memory = ::mmap(nullptr, after, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  } else if (after != before) {
    memory = ::mremap(lines_, before, after, MREMAP_MAYMOVE);
  }
  if (memory == MAP_FAILED) throw std::bad_alloc();
  // All at once: page by page, each would be read first, and then written, for two faults. An old kernel does not.
  if (after > before) ::madvise(static_cast<char*>(memory) + before, after - before, MADV_POPULATE_WRITE);
  lines_ = static_cast<Line*>(memory);
  total_ = total;
}

/// Of one that is not in it. `filled` has the hashes in each line: to count them in the line would wait for the one
/// that was written last.
void HashSet::place(Hash hash, std::vector<std::uint8_t>& filled) {
  for (std::size_t at = home(hash);; ++at) {
    if (at == total_) {
      extend();
      filled.resize(total_);
    }
    if (filled[at] == hashes_in_line) continue;
    lines_[at].hashes[filled[at]++] = hash;
    return;
  }
}

void HashSet::reserve(std::size_t count) {
  spread(static_cast<std::size_t>(static_cast<double>(count) / (hashes_in_line * most_full)) + first_lines_);
}

/// From the last line to the first each hash goes to its new line, which lies behind those still to come. The few that
/// stood so far behind their old line that theirs does not, wait.
void HashSet::spread(std::size_t homes) {
  const std::size_t old_total = total_;
  homes_ = homes;
  most_ = static_cast<std::size_t>(static_cast<double>(homes_ * hashes_in_line) * most_full);
  resize(std::max(homes_ + homes_ / 256 + 4, total_));
  std::vector<Hash> late;
  std::vector<std::uint8_t> filled(total_);
  for (std::size_t i = old_total; i-- > 0;) {
    if (i >= 24) __builtin_prefetch(lines_ + i - 24, 1);
    const Line line = lines_[i];
    lines_[i] = {};
    for (const Hash hash : line.hashes) {
      if (hash.high == 0) break;
      if (home(hash) > i)
        place(hash, filled);
      else
        late.push_back(hash);
    }
  }
  for (const Hash& hash : late) place(hash, filled);
}

}  // namespace oomplan::measure
