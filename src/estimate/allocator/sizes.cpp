#include "sizes.hpp"

namespace oomplan::allocator {
std::int64_t segment_size(std::int64_t size, const AllocatorSettings& settings) {
  if (size <= largest_small) return small_segment;
  if (size < own_segment_from) return settings.large_segment.count();
  return rounded_up(size, physical_page);
}

}  // namespace oomplan::allocator
