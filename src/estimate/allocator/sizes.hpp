// How large a block is and how large a segment, for what was asked. Bytes throughout.
#pragma once

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

/// The block that a request of `size` (> 0) takes: a multiple of 512.
std::int64_t block_size(std::int64_t size, const AllocatorSettings& settings);

/// The segment that is made for a block of `size` where none is free.
std::int64_t segment_size(std::int64_t size, const AllocatorSettings& settings);

}  // namespace oomplan::allocator
