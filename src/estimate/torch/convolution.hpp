// aten/src/ATen/native/Convolution.cpp of one dimension, and of two.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// torch.nn.functional.conv1d(x, weight, bias, padding=…, stride=…) of x (batch × channels × length), with as many
/// groups as the weight's sizes say; autocast lowers all three. What a backend makes of its inputs' layout, and its
/// workspace, are not in it.
Tensor conv1d(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t padding,
              std::int64_t stride = 1);

/// torch.nn.functional.conv2d of x (batch × channels × height × width), with a square kernel; no bias where it is
/// empty.
Tensor conv2d(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t padding,
              std::int64_t stride);

}  // namespace oomplan::estimator
