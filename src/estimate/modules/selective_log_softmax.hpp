// Log-probabilities out of logits that are there: TRL's (trl 1.16: trainer/utils.py selective_log_softmax, which takes
// kernels/logprob_entropy.py on a GPU), what Axolotl puts in its place (axolotl 0.18.0:
// monkeypatch/trainer/utils.py), and what TRL had before (trl 0.15 to 0.28), torch's own functions for a row at a time.
#pragma once

#include <cstdint>

#include "torch/torch.hpp"

namespace oomplan::estimator {

enum class LogSoftmax : std::uint8_t { kernel, patched, by_row };

/// Of each label in `index` (rows × length) by `logits` (rows × length × vocabulary).
Tensor selective_log_softmax(Torch& t, const Tensor& logits, const Tensor& index, LogSoftmax how);

}  // namespace oomplan::estimator
