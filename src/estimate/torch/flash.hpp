// The flash kernel's tensors, and what its backward pass pads (csrc/flash_attn/flash_api.cpp).
#pragma once

#include <array>
#include <cstdint>

#include "oomplan/core/bytes.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {

inline std::int64_t up_to(std::int64_t n, std::int64_t step) { return saturating_mul(divided_up(n, step), step); }

/// The width of a head in the sums of the queries' gradients.
inline std::int64_t flash_head(std::int64_t width) { return width <= 192 ? up_to(width, 32) : 256; }

/// The output of a fused kernel: batch × length × heads × dim in memory, seen as batch × heads × length × dim.
Tensor kernel_output(Torch& t, const Tensor& q, std::int64_t width, const char* op);

/// The gradients of q, k and v, after all that the kernel takes meanwhile.
std::array<Tensor, 3> flash_gradients(Torch& t, const Tensor& q, const Tensor& k, const Tensor& v);

}  // namespace oomplan::estimator
