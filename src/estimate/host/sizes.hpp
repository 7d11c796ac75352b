// Sizes that are averages, as bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "oomplan/catalog/runtime.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::host {

inline double number(const Price& cost) { return static_cast<double>(cost.bytes.count()); }

/// Rounded up to a byte, and held at the end of the range.
inline Bytes times(std::int64_t count, double bytes) {
  const double product = std::ceil(static_cast<double>(count) * bytes);
  return product < 9.2e18 ? Bytes(static_cast<std::int64_t>(product)) : Bytes::max();
}

inline constexpr std::string_view pinned_source = "torch 2.13.0: CachingHostAllocator rounds up to a power of two";

/// What page-locked memory of so many bytes takes.
inline Bytes power_of_two(Bytes bytes) {
  const auto count = static_cast<std::uint64_t>(std::max<std::int64_t>(bytes.count(), 1));
  return count > (std::uint64_t{1} << 62) ? Bytes::max() : Bytes(static_cast<std::int64_t>(std::bit_ceil(count)));
}

}  // namespace oomplan::host
