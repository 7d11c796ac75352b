#include "state.hpp"

#include <algorithm>

namespace oomplan::allocator {
namespace {

bool joins(const Machine& m, Index block, Index neighbour) {
  if (neighbour == none) return false;
  const Block& other = m.blocks[neighbour];
  return !other.allocated && other.mapped == m.blocks[block].mapped;
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
