// TRL's KTOTrainer (trl 1.16 and 1.8: trainer/kto_trainer.py): rows scored by the policy and by a reference, and for
// the KL divergence the same prompts with each other's completions, by both with no gradients. What is made of the
// scores is as small as the batch has rows.
#include <algorithm>
#include <iterator>

#include "one_loss.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

struct Batch {
  ScoredRows rows{};
  ScoredRows mismatched{};  ///< Empty where nothing is made of the divergence.
};

/// DataCollatorForUnpairedPreference.
Batch collate(Stage& stage, const Facts& given) {
  Facts facts = given;
  facts.sends_masks = true;
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

/// chosen_logits and rejected_logits of trl 1.8: each row is in one of them.
Tensor split_by_label(Torch& t, const Tensor& logits) {
  InBucket bucket(t, Bucket::logits_and_loss);
  return t.empty(logits->sizes, logits->dtype, "aten::index_select");
}

/// KTOTrainer._compute_loss: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, Batch& batch) {
  Torch& t = stage.torch();
  score_mismatched(stage, facts, batch.mismatched);
  const Scores policy = policy_scores(stage, facts, batch.rows);
  const Tensor by_label = policy.logits ? split_by_label(t, policy.logits) : Tensor();
  const bool compares = stage.plan().recipe.reference.value != Reference::precomputed;
  if (compares && batch.mismatched.completion_mask) reference_scores(stage, facts, batch.mismatched);
  const Scores reference = compares ? reference_scores(stage, facts, batch.rows) : Scores{};
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor ratios = compares ? t.sub(policy.sums, reference.sums) : policy.sums;
  batch.rows.stream.loss = t.div_scalar(t.sum_all(t.neg(ratios)));
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().drops, false);  // disable_dropout
  train_on(stage, stage.facts(), collate, lose);
}

void fetch_others(Stage& stage) {
  stage.fetch_others([&] {
    const Batch one = collate(stage, stage.facts());
    std::vector<Tensor> kinds = kinds_of(one.rows);
    std::ranges::copy(kinds_of(one.mismatched), std::back_inserter(kinds));
    return kinds;
  });
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

void evaluate(Stage& stage) { evaluate_on(stage, stage.evaluation_facts(), collate, lose); }

}  // namespace

extern const Recipe kto;
const Recipe kto{"kto", policy_and_reference, micro_batch, before, evaluate, fetch_others};

}  // namespace oomplan::estimator::recipes
