// Segments as cudaMalloc makes them.
#include <algorithm>

#include "state.hpp"

namespace oomplan::allocator {

Index new_segment(Machine& m, std::int64_t size, PoolKey of) {
  const std::int64_t physical = rounded_up(size, physical_page);
  if (!m.device.take(physical)) return none;
  const std::uint64_t address = m.device.place(physical);
  add_reserved(m, size);
  m.statistics.peak_segments = std::max(m.statistics.peak_segments, ++m.statistics.segments);
  return m.blocks.add({.address = address, .size = size, .base = address, .small = of.small, .stream = of.stream});
}

void release_segment(Machine& m, Index block) {
  erase_free(m, block);
  const std::int64_t size = m.blocks[block].size;
  m.device.give_back(rounded_up(size, physical_page));
  m.statistics.reserved -= Bytes(size);
  ++m.statistics.device_frees;
  --m.statistics.segments;
  m.blocks.remove(block);
}

}  // namespace oomplan::allocator
