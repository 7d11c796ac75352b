// aten/src/ATen/native/Convolution.cpp of one dimension.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// torch.nn.functional.conv1d(x, weight, bias, padding=…, stride=…) of x (batch × channels × length), with as many
/// groups as the weight's sizes say; autocast lowers all three. What a backend makes of its inputs' layout, and its
/// workspace, are not in it.
Tensor conv1d(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t padding,
              std::int64_t stride = 1);

}  // namespace oomplan::estimator
