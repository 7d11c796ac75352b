// Sizes that are averages, as bytes.
#pragma once

#include <cmath>
#include <cstdint>

#include "oomplan/catalog/runtime.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::host {

inline double number(const Price& cost) { return static_cast<double>(cost.bytes.count()); }

/// Rounded up to a byte, and held at the end of the range.
inline Bytes times(std::int64_t count, double bytes) {
  const double product = std::ceil(static_cast<double>(count) * bytes);
  return product < 9.2e18 ? Bytes(static_cast<std::int64_t>(product)) : Bytes::max();
}

}  // namespace oomplan::host
