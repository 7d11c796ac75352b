// Expandable segments: address space for more than the card, with memory mapped a page at a time.
#include <algorithm>

#include "state.hpp"

namespace oomplan::allocator {
namespace {

Index new_range(Machine& m, PoolKey of) {
  const std::int64_t size = range_size(m, m.page(of.small));
  const bool placed = m.device.placed != Device::nowhere;
  const std::uint64_t address = placed ? std::exchange(m.device.placed, Device::nowhere) : m.device.next_range;
  constexpr std::uint64_t gap = std::uint64_t{1} << 30;
  m.device.next_range += static_cast<std::uint64_t>(rounded_up(size, physical_page)) + gap;
  m.statistics.peak_segments = std::max(m.statistics.peak_segments, ++m.statistics.segments);
  const Index block = m.blocks.add(
      {.address = address, .size = size, .base = address, .small = of.small, .stream = of.stream, .mapped = false});
  insert_unmapped(m, block);
  return block;
}

bool has_room(const Machine& m, Index block, std::int64_t size) {
  for (; block != none && size > 0 && !m.blocks[block].allocated; block = m.blocks[block].next) {
    size -= m.blocks[block].size;
  }
  return size <= 0;
}

/// The lowest address with room for `size`, free or unmapped: an unmapped block, or a free one with an unmapped one
/// behind it.
Index find_room(const Machine& m, std::int64_t size, PoolKey of) {
  for (const Index unmapped : m.pools[of.number()].unmapped) {
    const Index before = m.blocks[unmapped].previous;
    const Index begin = before != none && !m.blocks[before].allocated ? before : unmapped;
    if (has_room(m, begin, size)) return begin;
  }
  return none;
}

/// Maps pages for the first `size` bytes of an unmapped block, all or nothing, and joins them with free neighbours. The
/// free block that this makes, or none.
Index map(Machine& m, Index block, std::int64_t size) {
  const std::int64_t pages = rounded_up(size, m.page(m.blocks[block].small));
  if (!m.device.take(pages)) return none;
  Index mapped = block;
  if (pages < m.blocks[block].size) {
    mapped = cut_front(m, block, pages);
  } else {
    erase_unmapped(m, block);
  }
  m.blocks[mapped].mapped = true;
  merge(m, mapped);
  insert_free(m, mapped);
  add_reserved(m, pages);
  return mapped;
}

void release_range(Machine& m, Index block) {
  erase_unmapped(m, block);
  m.blocks.remove(block);
  --m.statistics.segments;
}

/// Takes a free block out of the set and cuts it down to its whole pages; what is around them stays free.
Index whole_pages_of(Machine& m, Index block, std::int64_t before, std::int64_t pages) {
  erase_free(m, block);
  if (before > 0) insert_free(m, cut_front(m, block, before));
  if (pages == m.blocks[block].size) return block;
  const Index inner = cut_front(m, block, pages);
  insert_free(m, block);
  return inner;
}

}  // namespace

std::int64_t range_size(const Machine& m, std::int64_t page) {
  return rounded_up(m.device.addresses + m.device.addresses / 8, page);
}

std::int64_t pages_short(const Machine& m, std::int64_t size, PoolKey of) {
  const std::int64_t page = m.page(of.small);
  Index at = find_room(m, size, of);
  std::int64_t taken = at == none ? rounded_up(size, page) : 0;
  for (; at != none && size > 0 && taken <= m.device.free(); at = m.blocks[at].next) {
    const Block& b = m.blocks[at];
    if (!b.mapped) taken += rounded_up(std::min(size, b.size), page);
    size -= b.size;
  }
  return taken > m.device.free() ? taken : 0;
}

Index expand(Machine& m, std::int64_t size, PoolKey of) {
  Index block = find_room(m, size, of);
  if (block == none) block = new_range(m, of);
  if (!m.blocks[block].mapped) block = map(m, block, std::min(size, m.blocks[block].size));
  while (block != none && m.blocks[block].size < size) {
    const Index behind = m.blocks[block].next;
    block = map(m, behind, std::min(size - m.blocks[block].size, m.blocks[behind].size));
  }
  if (block != none) erase_free(m, block);
  return block;
}

void unmap(Machine& m, Index block) {
  const Block& whole = m.blocks[block];
  const std::int64_t page = m.page(whole.small);
  const auto begin = static_cast<std::int64_t>(whole.address - whole.base);
  const std::int64_t first = rounded_up(begin, page);
  const std::int64_t pages = (begin + whole.size) / page * page - first;
  if (pages <= 0) return;
  block = whole_pages_of(m, block, first - begin, pages);
  m.blocks[block].mapped = false;
  merge(m, block);
  insert_unmapped(m, block);
  m.device.give_back(pages);
  m.statistics.reserved -= Bytes(pages);
  ++m.statistics.device_frees;
  if (!m.blocks[block].split()) release_range(m, block);
}

}  // namespace oomplan::allocator
