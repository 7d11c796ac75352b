// GRPO as Unsloth plays it (unsloth_zoo 2026.8.13: rl_replacements.py; unsloth 2026.8.19: models/rl_replacements.py):
// the rows of a batch end to end in one, and their log-probabilities of the hidden states in parts.
#pragma once

#include "recipe.hpp"

namespace oomplan::estimator {

/// A rollout of vLLM's, which shares the policy's weights, and its scores by the reference.
void prepare_unsloth_rollout(Stage& stage);

/// One of its batches: forward, loss and backward.
void play_unsloth_rollout(Stage& stage);

}  // namespace oomplan::estimator
