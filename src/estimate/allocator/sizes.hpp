// How large a block is and how large a segment, for what was asked. Bytes throughout.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "oomplan/estimate/allocator.hpp"

namespace oomplan::allocator {

inline constexpr std::int64_t kib = 1024;
inline constexpr std::int64_t mib = 1024 * kib;

inline constexpr std::int64_t smallest_block = 512;
inline constexpr std::int64_t largest_small = mib;          // what the small pool takes
inline constexpr std::int64_t small_segment = 2 * mib;      // and the small pool's page
inline constexpr std::int64_t own_segment_from = 10 * mib;  // smaller requests share a segment
inline constexpr std::int64_t physical_page = 2 * mib;      // what the driver hands out
inline constexpr std::int64_t refused_from = 1LL << 60;     // torch refuses 1 EiB before it looks at the card
inline constexpr std::int64_t largest_total = 1LL << 46;    // address space is finite

constexpr std::int64_t rounded_up(std::int64_t size, std::int64_t step) { return (size + step - 1) / step * step; }

/// Into how many parts requests of this size have each power of two divided; at most 1: they are rounded up to 512.
inline std::int64_t divisions_for(std::uint64_t size, const AllocatorSettings& settings) {
  constexpr int first = 20;  // log2 of 1 MiB
  const int power = static_cast<int>(std::bit_width(size)) - 1 - first;
  const int last = static_cast<int>(settings.roundup_divisions.size()) - 1;
  return settings.roundup_divisions[static_cast<std::size_t>(std::clamp(power, 0, last))];
}

/// The block that a request of `size` (> 0) takes: a multiple of 512.
inline std::int64_t block_size(std::int64_t size, const AllocatorSettings& settings) {
  if (size < smallest_block) return smallest_block;
  const std::int64_t divisions = divisions_for(static_cast<std::uint64_t>(size), settings);
  if (divisions <= 1 || size <= smallest_block * divisions) return rounded_up(size, smallest_block);
  const auto floor = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(size)));
  return rounded_up(size, floor / divisions);
}

/// The segment that is made for a block of `size` where none is free.
std::int64_t segment_size(std::int64_t size, const AllocatorSettings& settings);

}  // namespace oomplan::allocator
