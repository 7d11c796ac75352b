// TRL's log-probabilities out of logits that are there (trl 1.16: trainer/utils.py selective_log_softmax, which takes
// kernels/logprob_entropy.py on a GPU).
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// Of each label in `index` (rows × length) by `logits` (rows × length × vocabulary).
Tensor selective_log_softmax(Torch& t, const Tensor& logits, const Tensor& index);

}  // namespace oomplan::estimator
