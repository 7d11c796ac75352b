#include "state.hpp"

#include <algorithm>

namespace oomplan::allocator {
namespace {

bool joins(const Machine& m, Index block, Index neighbour) {
  if (neighbour == none) return false;
  const Block& other = m.blocks[neighbour];
  return !other.allocated && other.mapped == m.blocks[block].mapped;
}

std::int64_t whole_pages(const Block& b, std::int64_t page) {
  if (b.size < page) return 0;
  const auto begin = static_cast<std::int64_t>(b.address - b.base);
  const std::int64_t first = (begin + page - 1) / page;
  const std::int64_t last = (begin + b.size) / page;
  return std::max<std::int64_t>(last - first, 0) * page;
}

/// What of a free block could not be given back now.
std::int64_t stranded(const Machine& m, const Block& b) {
  if (m.settings.expandable_segments) return b.size - whole_pages(b, m.page(b.small));
  return b.split() ? b.size : 0;
}

void link(Machine& m, Index previous, Index next) {
  if (previous != none) m.blocks[previous].next = next;
  if (next != none) m.blocks[next].previous = previous;
}

void absorb(Machine& m, Index block, Index neighbour) {
  Block& b = m.blocks[block];
  const Block& other = m.blocks[neighbour];
  other.mapped ? erase_free(m, neighbour) : erase_unmapped(m, neighbour);
  if (b.previous == neighbour) {
    b.address = other.address;
    link(m, other.previous, block);
    b.previous = other.previous;
  } else {
    link(m, block, other.next);
    b.next = other.next;
  }
  b.size += other.size;
  m.blocks.remove(neighbour);
}

bool lower(const Machine& m, Index a, Index b) { return m.blocks[a].address < m.blocks[b].address; }

}  // namespace

void insert_free(Machine& m, Index block) {
  Block& b = m.blocks[block];
  Pool& pool = m.pool(b.small);
  b.freed_at = pool.searches;
  b.stranded = stranded(m, b);
  m.statistics.fragmented += Bytes(b.stranded);
  pool.free.insert(m.blocks, block);
}

void erase_free(Machine& m, Index block) {
  const Block& b = m.blocks[block];
  m.statistics.fragmented -= Bytes(b.stranded);
  m.pool(b.small).free.erase(m.blocks, block);
}

void insert_unmapped(Machine& m, Index block) {
  std::vector<Index>& list = m.pool_of(block).unmapped;
  list.insert(std::lower_bound(list.begin(), list.end(), block, [&](Index a, Index b) { return lower(m, a, b); }),
              block);
}

void erase_unmapped(Machine& m, Index block) { std::erase(m.pool_of(block).unmapped, block); }

Index cut_front(Machine& m, Index block, std::int64_t size) {
  Block front = m.blocks[block];
  front.size = size;
  front.next = block;
  const Index made = m.blocks.add(front);
  Block& rest = m.blocks[block];
  link(m, rest.previous, made);
  rest.previous = made;
  rest.address += static_cast<std::uint64_t>(size);
  rest.size -= size;
  return made;
}

void merge(Machine& m, Index block) {
  if (joins(m, block, m.blocks[block].previous)) absorb(m, block, m.blocks[block].previous);
  if (joins(m, block, m.blocks[block].next)) absorb(m, block, m.blocks[block].next);
}

void add_reserved(Machine& m, std::int64_t size) {
  AllocatorStatistics& s = m.statistics;
  s.reserved += Bytes(size);
  s.peak_reserved = std::max(s.peak_reserved, s.reserved);
  ++s.device_allocs;
}

}  // namespace oomplan::allocator
