// torch.distributed.tensor.parallel.loss_parallel: cross entropy of logits of which each rank has its part of the
// vocabulary (torch 2.13: torch/distributed/tensor/parallel/loss.py).
#pragma once

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// Of this rank's logits, rows × part of the vocabulary.
Tensor parallel_cross_entropy(Torch& t, const Tensor& logits, const Tensor& labels);

}  // namespace oomplan::estimator
