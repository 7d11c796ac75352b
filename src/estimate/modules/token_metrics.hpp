// What TRL's SFTTrainer measures of the logits beside the loss (trl/trainer/sft_trainer.py: compute_loss;
// trainer/utils.py: entropy_from_logits; trl 0.15 to 1.6).
#pragma once

#include "oomplan/plan/plan.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {

/// `logits`: those of the output, [batch, length, vocabulary].
void measure_tokens(Torch& t, TokenMetrics what, const Tensor& logits);

}  // namespace oomplan::estimator
