// What RWKV's attention and MLP do to what they are given: each token mixed with the one before it.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// torch.nn.ZeroPad2d((0, 0, 1, -1))
Tensor shifted_by_one(Torch& t, const Tensor& x);

/// x * share + shifted * (1 - share)
Tensor mixed(Torch& t, const Tensor& x, const Tensor& shifted, const Tensor& share);

}  // namespace oomplan::estimator
