// LigerFusedLinearCrossEntropyFunction (liger-kernel: ops/fused_linear_cross_entropy.py).
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

struct FusedLinear {
  bool one_buffer = true;     ///< Every chunk's logits in one buffer, where no cast stands between.
  bool adds_in_place = true;  ///< The product that is the weight's gradient is added to it as it is made.

  /// The sum of the losses of `hidden` (rows × length × width) with the head's `weight` (vocabulary × width).
  Tensor operator()(Play& play, const Tensor& hidden, const Tensor& weight) const;
};

}  // namespace oomplan::estimator
