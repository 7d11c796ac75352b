// torch.nn.functional.linear as DeepSpeed's ZeRO-3 replaces it.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// deepspeed/runtime/zero/linear.py: zero3_linear_wrap, which saves its input whether or not the weight is trained.
Tensor zero3_linear_wrap(Torch& torch, const Tensor& input, const Tensor& weight, const Tensor& bias);

}  // namespace oomplan::estimator
