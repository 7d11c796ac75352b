// torch.nn.functional.rms_norm of an input in its weight's own dtype.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

Tensor fused_rms_norm(Torch& t, const Tensor& x, const Tensor& weight);

}  // namespace oomplan::estimator
