#include "sizes.hpp"

#include <algorithm>
#include <bit>

namespace oomplan::allocator {
namespace {

std::int64_t divisions_for(std::uint64_t size, const AllocatorSettings& settings) {
  constexpr int first = 20;  // log2 of 1 MiB
  const int power = static_cast<int>(std::bit_width(size)) - 1 - first;
  const int last = static_cast<int>(settings.roundup_divisions.size()) - 1;
  return settings.roundup_divisions[static_cast<std::size_t>(std::clamp(power, 0, last))];
}

}  // namespace

std::int64_t block_size(std::int64_t size, const AllocatorSettings& settings) {
  if (size < smallest_block) return smallest_block;
  const std::int64_t divisions = divisions_for(static_cast<std::uint64_t>(size), settings);
  if (divisions <= 1 || size <= smallest_block * divisions) return rounded_up(size, smallest_block);
  const auto floor = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)));
  return rounded_up(size, floor / divisions);
}

std::int64_t segment_size(std::int64_t size, const AllocatorSettings& settings) {
  if (size <= largest_small) return small_segment;
  if (size < own_segment_from) return settings.large_segment.count();
  return rounded_up(size, physical_page);
}

}  // namespace oomplan::allocator
