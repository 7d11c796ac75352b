// apply_rotary_pos_emb of Gemma 4's towers and texts.
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// With unsqueeze_dim=2: x is batch × length × heads × width, `cos` and `sin` batch × length × width.
Tensor turned_before_heads(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin);

}  // namespace oomplan::estimator
