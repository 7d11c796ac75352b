// What TRL's trainers of preferences share (trainer/dpo_trainer.py, kto_trainer.py, grpo_trainer.py): rows whose
// completions are scored by the policy, and by a reference with no gradients. trl 1.16 has a fused head do it; 1.8,
// which Axolotl pins, takes the model's logits.
#pragma once

#include <span>

#include "recipe.hpp"

namespace oomplan::estimator {

/// Rows of a prompt and its completion.
struct ScoredRows {
  Stream stream{};
  Tensor completion_mask{};
};

/// The facts of a batch of as many pairs as `facts` has rows. A pair's rows differ in length, so that they are padded.
Facts in_pairs(Facts facts);

/// The policy, and the model that it is held against where that is another.
std::span<const Role> policy_and_reference(const TrainingPlan& plan);

/// A batch comes from the collator.
ScoredRows arrive(Stage& stage, const Facts& facts);

/// What the collator hands over of them.
std::vector<Tensor> kinds_of(const ScoredRows& rows);

/// What a model makes of rows.
struct Scores {
  Tensor sums{};  ///< Of each row's completion: of its log-probabilities.
  /// Where the loss is of full logits: the model's output, which the trainer holds on to until its metrics are made.
  Tensor logits{};
  Tensor chosen_loss{};  ///< A cross entropy that nothing may use, with what its backward pass would take.
};

/// By the policy.
Scores policy_scores(Stage& stage, const Facts& facts, ScoredRows& rows);

/// The same by the policy without its adapter, or by another model; never with checkpoints or gradients.
Scores reference_scores(Stage& stage, const Facts& facts, const ScoredRows& rows);

/// The same of each of a row's last tokens, as many as the plan's completions have: rows × tokens.
Tensor policy_token_scores(Stage& stage, const Facts& facts, ScoredRows& rows);
Tensor reference_token_scores(Stage& stage, const Facts& facts, const ScoredRows& rows);

/// As LLaMA-Factory's trainers have them (0.9.5: train/trainer_utils.py, get_batch_logps): of the batch's labels, by
/// one log_softmax of all logits in fp32.
Scores policy_label_scores(Stage& stage, const Facts& facts, ScoredRows& rows);
Scores reference_label_scores(Stage& stage, const Facts& facts, const ScoredRows& rows);

/// What metrics copy of pairs' logits: those of the chosen rows' completions, then of the rejected ones'.
void measure_halves(Torch& t, const Facts& facts, const Tensor& logits);

/// The facts of a batch whose scores are computed before the first step.
Facts precomputing(Stage& stage);

}  // namespace oomplan::estimator
