// Giving cached memory back to the driver.
#include <algorithm>

#include "state.hpp"

namespace oomplan::allocator {
namespace {

/// Only what is free to its last byte goes: a whole segment, or the whole pages of an expandable one.
void release_pool(Machine& m, std::size_t number) {
  for (const Index block : m.pools[number].free.list(m.blocks)) {
    if (m.settings.expandable_segments) {
      unmap(m, block);
    } else if (!m.blocks[block].split()) {
      release_segment(m, block);
    }
  }
}

/// From the largest down until the sum suffices, but none that is smaller than the limit.
bool release_largest(Machine& m, const std::vector<Index>& oversize, std::int64_t wanted) {
  std::int64_t released = 0;
  for (auto at = oversize.rbegin(); at != oversize.rend() && released < wanted; ++at) {
    released += m.blocks[*at].size;
    release_segment(m, *at);
  }
  return released >= wanted;
}

struct Ages {
  std::uint64_t total = 0;
  std::int64_t blocks = 0;
};

std::vector<Index> whole_segments(Machine& m, Ages& ages) {
  std::vector<Index> out;
  for (std::size_t large = 0; large < m.pools.size(); large += 2) {
    for (const Index block : m.pools[large].free.list(m.blocks)) {
      if (m.blocks[block].split()) continue;
      out.push_back(block);
      ages.total += m.searches - m.blocks[block].freed_at;
      ++ages.blocks;
    }
  }
  return out;
}

/// One round: what is at least as old as the mean goes. The bytes that this gave back.
std::int64_t release_old(Machine& m, std::vector<Index>& segments, Ages& ages) {
  const double mean = static_cast<double>(ages.total) / static_cast<double>(ages.blocks);
  std::int64_t released = 0;
  std::erase_if(segments, [&](Index block) {
    const std::uint64_t age = m.searches - m.blocks[block].freed_at;
    if (static_cast<double>(age) < mean) return false;
    released += m.blocks[block].size;
    ages.total -= age;
    --ages.blocks;
    release_segment(m, block);
    return true;
  });
  return released;
}

}  // namespace

bool release_some(Machine& m, std::int64_t size, PoolKey of) {
  if (!m.settings.max_split || m.settings.expandable_segments) return false;
  const std::int64_t limit = m.settings.max_split->count();
  const std::int64_t wanted = std::max(size, limit);
  const FreeSet& free = m.pool(of).free;
  if (const Index found = free.at_least(m.blocks, wanted); found != none) {
    release_segment(m, found);
    return true;
  }
  return release_largest(m, free.list(m.blocks, limit), wanted);
}

bool release_one(Machine& m, std::uint64_t address, std::int64_t size) {
  for (const Pool& pool : m.pools) {
    const Index block = pool.free.at(m.blocks, size, address);
    if (block == none) continue;
    if (m.blocks[block].split() || m.settings.expandable_segments) return false;
    release_segment(m, block);
    return true;
  }
  return false;
}

void release_all(Machine& m) {
  for (std::size_t number = 0; number < m.pools.size(); ++number) release_pool(m, number);
}

void collect_garbage(Machine& m) {
  const auto threshold =
      static_cast<std::int64_t>(m.settings.garbage_collection_threshold * static_cast<double>(*m.allowed));
  std::int64_t wanted = m.statistics.reserved.count() - threshold;
  if (wanted <= 0 || m.settings.expandable_segments) return;
  Ages ages;
  std::vector<Index> segments = whole_segments(m, ages);
  while (wanted > 0 && ages.blocks > 0) {
    const std::int64_t released = release_old(m, segments, ages);
    if (released == 0) return;
    wanted -= released;
  }
}

}  // namespace oomplan::allocator
