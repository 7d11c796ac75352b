// Weights in 4 bits, as bitsandbytes holds them (functional.py: quantize_4bit, dequantize_4bit).
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// Makes 4 bits of a weight that is on the GPU; how many blocks it has, each with a scale.
std::int64_t store_four_bits(Builder& builder, std::int64_t elements);

/// The weight made anew; of scales that are quantized too, these come first.
Tensor dequantized(Torch& t, const Dims& sizes, std::int64_t blocks, bool nested, DType compute);

}  // namespace oomplan::estimator
