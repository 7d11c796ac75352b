// Log-probabilities out of logits that are there: TRL's (trl 1.16: trainer/utils.py selective_log_softmax, which takes
// kernels/logprob_entropy.py on a GPU), and what Axolotl puts in its place (axolotl 0.18.0:
// monkeypatch/trainer/utils.py).
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// Of each label in `index` (rows × length) by `logits` (rows × length × vocabulary).
Tensor selective_log_softmax(Torch& t, const Tensor& logits, const Tensor& index, bool patched);

}  // namespace oomplan::estimator
