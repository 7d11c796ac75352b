// Axolotl's fused RMSNorm and rotary embedding (axolotl 0.18.0: kernels/gemma4_fused_rope.py).
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// fused_rms_norm_rope: x is batch × length × heads × head dim, as is what comes back.
Tensor fused_norm_rope(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& cos, const Tensor& sin);

/// fused_rms_norm_noscale, of such an x.
Tensor fused_norm(Torch& t, const Tensor& x);

}  // namespace oomplan::estimator
