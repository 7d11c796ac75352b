// torchao's fake quantization (0.18: quantization/qat/fake_quantizer.py, quantization/quant_primitives.py): a tensor
// rounded as its quantized form would be, by ops that autograd sees.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// Elements of the last dimension that share a scale: a weight's group, a token's all. `kept`: the scales as the module
/// keeps them; empty where those of each time stay for backward.
Tensor fake_quantized(Torch& t, const Tensor& x, std::int64_t group, const Tensor& kept);

}  // namespace oomplan::estimator
