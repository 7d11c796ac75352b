// torch.logsumexp, whose forward pass and gradient make copies as large as what they are given.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// x.logsumexp(dim) over a dimension that is played as the last.
Tensor logsumexp_last(Torch& t, const Tensor& x);

}  // namespace oomplan::estimator
