// One request: best fit among the free blocks, or else new memory, with all the retries that PyTorch makes for it.
#include <algorithm>

#include "state.hpp"

namespace oomplan::allocator {
namespace {

/// The size that an expandable tail could grow to is what counts for best fit.
std::int64_t growable(const Machine& m, Index block) {
  const Block& b = m.blocks[block];
  const bool tail = b.next != none && !m.blocks[b.next].mapped;
  return b.size + (tail ? m.blocks[b.next].size : 0);
}

/// Only the tail of a range can grow: behind any other none is better.
Index past_growable(const Machine& m, const FreeSet& free, Index found) {
  if (growable(m, found) == m.blocks[found].size) return found;
  for (Index next = free.after(m.blocks, found); next != none; next = free.after(m.blocks, next)) {
    if (growable(m, next) >= growable(m, found)) break;
    found = next;
  }
  return found;
}

/// max_split_size keeps oversize blocks for oversize requests, and those from blocks that are much too large.
bool suits(const Machine& m, std::int64_t block, std::int64_t size) {
  if (!m.settings.max_split) return true;
  const std::int64_t limit = m.settings.max_split->count();
  if (size < limit) return block < limit;
  return block - size < m.settings.max_non_split_rounding.count();
}

Index best_fit(Machine& m, std::int64_t size, PoolKey of) {
  Pool& pool = m.pool(of);
  if (m.collects_garbage() && !of.small) ++m.searches;
  Index found = pool.free.at_least(m.blocks, size);
  if (found == none) return none;
  if (m.settings.expandable_segments) found = past_growable(m, pool.free, found);
  if (!suits(m, m.blocks[found].size, size)) return none;
  erase_free(m, found);
  return found;
}

bool splits(const Machine& m, const Block& block, std::int64_t size) {
  const std::int64_t rest = block.size - size;
  if (block.small || m.settings.expandable_segments) return rest >= smallest_block;
  return (!m.settings.max_split || size < m.settings.max_split->count()) && rest > largest_small;
}

Index new_memory(Machine& m, std::int64_t size, PoolKey of) {
  const std::int64_t segment = segment_size(size, m.settings);
  if (m.watched > 0) part_from_larger(m, size, of);
  if (m.allowed && m.statistics.reserved.count() + segment > *m.allowed) return none;
  return m.settings.expandable_segments ? expand(m, size, of) : new_segment(m, segment, of);
}

Index new_memory_with_retries(Machine& m, std::int64_t size, PoolKey of) {
  if (m.watched > 0) keep_where_short(m, size, of);
  if (m.collects_garbage()) collect_garbage(m);
  Index block = new_memory(m, size, of);
  if (block == none && release_some(m, size, of)) block = new_memory(m, size, of);
  if (block != none) return block;
  release_all(m);
  ++m.statistics.retries;
  return new_memory(m, size, of);
}

/// Of `left` equal requests how many the first one's block serves: what it leaves of it is the best fit for the next.
std::int64_t that_follow(const Machine& m, Index block, std::int64_t size, std::int64_t left) {
  return m.settings.max_split || m.collects_garbage() ? 1 : std::min(left, m.blocks[block].size / size);
}

}  // namespace

Index request(Machine& m, std::int64_t asked, std::uint8_t stream, std::int64_t& left) {
  std::int64_t size = block_size(asked, m.settings);
  const PoolKey of{size <= largest_small, stream};
  Index block = best_fit(m, size, of);
  if (block == none) block = new_memory_with_retries(m, size, of);
  if (block == none) return none;
  const std::int64_t many = left > 1 ? that_follow(m, block, size, left) : 1;
  left -= many;
  size *= many;
  if (splits(m, m.blocks[block], size)) {
    const Index rest = block;
    block = cut_front(m, rest, size);
    insert_free(m, rest);
  }
  m.blocks[block].allocated = true;
  m.statistics.allocated += Bytes(m.blocks[block].size);
  m.statistics.peak_allocated = std::max(m.statistics.peak_allocated, m.statistics.allocated);
  return block;
}

void give_back(Machine& m, Index block) {
  m.statistics.allocated -= Bytes(m.blocks[block].size);
  m.blocks[block].allocated = false;
  merge(m, block);
  insert_free(m, block);
}

}  // namespace oomplan::allocator
