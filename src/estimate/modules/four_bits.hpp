// Weights in 4 bits, as bitsandbytes holds them (functional.py: quantize_4bit, dequantize_4bit).
#pragma once

#include <cstdint>
#include <functional>

#include "play.hpp"

namespace oomplan::estimator {

/// How many blocks so many elements have, each with a scale.
std::int64_t four_bit_blocks(std::int64_t elements);

/// quantize_4bit of a weight that is on the GPU: `keep` is given what it makes but for the packed bytes, `pack` these.
void quantize_four_bits(Torch& t, std::int64_t elements, bool nested,
                        const std::function<void(const Dims& sizes, DType dtype)>& keep,
                        const std::function<void(std::int64_t bytes)>& pack);

/// Makes 4 bits of a weight of the model; how many blocks it has.
std::int64_t store_four_bits(Builder& builder, std::int64_t elements);

/// What bitsandbytes' gemm_4bit (0.50 on: backends/cuda/ops.py, _dequant_linear_fallback) multiplies by, with what its
/// function holds until the product is there. The kernel of its own, for up to 512 tokens and for small weights, makes
/// none of it.
struct InProduct {
  Tensor scales{};   ///< Those that are quantized too, made anew,
  Tensor shifted{};  ///< … and with their mean.
  Tensor weight{};
};
InProduct dequantized_in_product(Torch& t, const Dims& sizes, std::int64_t blocks, bool nested, DType dtype);

/// The weight made anew; of scales that are quantized too, these come first.
Tensor dequantized(Torch& t, const Dims& sizes, std::int64_t blocks, bool nested, DType compute);

}  // namespace oomplan::estimator
