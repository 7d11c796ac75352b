// What flash-attn's backward pass pads (csrc/flash_attn/flash_api.cpp).
#pragma once

#include <cstdint>

#include "oomplan/core/bytes.hpp"

namespace oomplan::estimator {

inline std::int64_t up_to(std::int64_t n, std::int64_t step) { return saturating_mul(divided_up(n, step), step); }

/// The width of a head in the sums of the queries' gradients.
inline std::int64_t flash_head(std::int64_t width) { return width <= 192 ? up_to(width, 32) : 256; }

}  // namespace oomplan::estimator
