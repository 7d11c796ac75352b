// transformers' LabelSmoother (transformers 5.23.0: trainer_pt_utils.py).
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// The loss of `logits` (batch × length × vocabulary) and `labels` (batch × length). `shifted`: of the next token, as
/// for a model of causal language.
Tensor smoothed_loss(Torch& t, Tensor logits, Tensor labels, bool shifted);

}  // namespace oomplan::estimator
