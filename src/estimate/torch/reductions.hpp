// Reductions that few models have.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// torch.std(x, dim=-1, keepdim=True, unbiased=False)
Tensor std_last(Torch& t, const Tensor& x);

/// torch.mean(x, dim=0)
Tensor mean_first(Torch& t, const Tensor& x);

}  // namespace oomplan::estimator
