// TRL's KTOTrainer (trl 1.16: trainer/kto_trainer.py): rows scored by the policy and by a reference, and for the KL
// divergence the same prompts with each other's completions, by both with no gradients. What is made of the scores is
// as small as the batch has rows.
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

struct Batch {
  ScoredRows rows{};
  ScoredRows mismatched{};  ///< Empty where nothing is made of the divergence.
};

/// DataCollatorForUnpairedPreference.
Batch collate(Stage& stage, const Facts& facts) {
  Batch out{arrive(stage, facts), {}};
  if (stage.plan().recipe.second_term.value) out.mismatched = arrive(stage, facts);
  return out;
}

/// KTOTrainer._compute_kl_logps, by the policy.
void score_mismatched(Stage& stage, const Facts& facts, const ScoredRows& rows) {
  if (!rows.completion_mask) return;
  Restore no_grad(stage.torch().grad_enabled, false);
  ScoredRows scored = rows;
  policy_scores(stage, facts, scored);
}

/// KTOTrainer._compute_loss: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, Batch& batch) {
  Torch& t = stage.torch();
  score_mismatched(stage, facts, batch.mismatched);
  Tensor ratios = policy_scores(stage, facts, batch.rows);
  if (stage.plan().recipe.reference.value != Reference::precomputed) {
    if (batch.mismatched.completion_mask) reference_scores(stage, facts, batch.mismatched);
    ratios = t.sub(ratios, reference_scores(stage, facts, batch.rows));
  }
  InBucket bucket(t, Bucket::logits_and_loss);
  batch.rows.stream.loss = t.div_scalar(t.sum_all(t.neg(ratios)));
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().training, false);  // disable_dropout
  stage.begin(Phase::between);
  Batch batch = collate(stage, stage.facts());
  stage.begin(Phase::forward);
  lose(stage, stage.facts(), batch);
  stage.backward(batch.rows.stream);
  stage.begin(Phase::between);
}

/// KTOTrainer._precompute_ref_logps, as the trainer is made.
void before(Stage& stage) {
  if (stage.plan().recipe.reference.value != Reference::precomputed) return;
  const Facts facts = precomputing(stage);
  stage.without_training([&] {
    stage.begin(Phase::reference);
    const Batch batch = collate(stage, facts);
    reference_scores(stage, facts, batch.rows);
    if (batch.mismatched.completion_mask) reference_scores(stage, facts, batch.mismatched);
  });
}

void evaluate(Stage& stage) {
  const Facts facts = stage.evaluation_facts();
  stage.without_training([&] {
    stage.begin(Phase::evaluation);
    Batch batch = collate(stage, facts);
    lose(stage, facts, batch);
  });
}

}  // namespace

extern const Recipe kto;
const Recipe kto{"kto", policy_and_reference, micro_batch, before, evaluate};

}  // namespace oomplan::estimator::recipes
