// The same run on a larger card, as far as it is the same.
#include "state.hpp"

namespace oomplan::allocator {
namespace {

/// What the device must have free for the next pages or the segment of `size` bytes; 0 where it has all pages.
std::int64_t needed_for(const Machine& m, std::int64_t size, PoolKey of) {
  if (m.settings.expandable_segments) return pages_short(m, size, of);
  return rounded_up(segment_size(size, m.settings), physical_page);
}

}  // namespace

void keep_where_short(Machine& m, std::int64_t size, PoolKey of) {
  m.kept.reset();
  if (needed_for(m, size, of) > m.device.free()) m.kept = std::make_shared<Machine>(m);
}

void part_from_larger(Machine& m, std::int64_t size, PoolKey of) {
  const std::int64_t needed = needed_for(m, size, of);
  if (needed <= m.device.free()) return;
  const std::int64_t total = m.device.total + needed - m.device.free();
  if (total > m.watched) {
    m.parts_from = std::min(m.parts_from, total);
    return;
  }
  m.larger = std::move(m.kept);
  m.larger->device.total = m.watched;
  m.larger->watched = m.watched = 0;
}

}  // namespace oomplan::allocator
