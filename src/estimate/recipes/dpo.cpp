// Direct preference optimisation as TRL's DPOTrainer plays it (trl 1.16 and 1.8: trainer/dpo_trainer.py): chosen and
// rejected rows in one batch, scored by the policy and by a reference with no gradients. What is made of the scores is
// as small as the batch has rows, whichever the loss.
#include <algorithm>

#include "one_loss.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// What the metrics of trl 1.8 copy of the logits: those of the chosen rows' completions, then of the rejected ones'.
void measure(Torch& t, const Facts& facts, const Tensor& logits) {
  if (!logits) return;
  const std::int64_t longest = logits->sizes[1] - 1;
  const std::int64_t tokens = facts.labelled > 0 ? std::min(facts.labelled, longest) : longest;
  const std::int64_t rows = saturating_mul(logits->sizes[0] / 2, tokens);
  for (int kind = 0; kind < 2; ++kind) t.empty({rows, logits->sizes.back()}, logits->dtype, "aten::index");
}

/// DPOTrainer._compute_loss: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, ScoredRows& pairs) {
  Torch& t = stage.torch();
  const Scores policy = policy_scores(stage, facts, pairs);
  const bool compares = stage.plan().recipe.reference.value != Reference::precomputed;
  const Scores reference = compares ? reference_scores(stage, facts, pairs) : Scores{};
  const Tensor ratios = compares ? t.sub(policy.sums, reference.sums) : policy.sums;
  InBucket bucket(t, Bucket::logits_and_loss);
  pairs.stream.loss = t.div_scalar(t.sum_all(t.neg(ratios)));
  measure(t, facts, policy.logits);
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().drops, false);  // disable_dropout
  train_on(stage, in_pairs(stage.facts()), arrive, lose);
}

/// DPOTrainer._precompute_ref_logps, as the trainer is made.
void before(Stage& stage) {
  if (stage.plan().recipe.reference.value != Reference::precomputed) return;
  const Facts facts = in_pairs(precomputing(stage));
  stage.without_training([&] {
    stage.begin(Phase::reference);
    reference_scores(stage, facts, arrive(stage, facts));
  });
}

void evaluate(Stage& stage) { evaluate_on(stage, in_pairs(stage.evaluation_facts()), arrive, lose); }

}  // namespace

extern const Recipe dpo;
const Recipe dpo{"dpo", policy_and_reference, micro_batch, before, evaluate};

}  // namespace oomplan::estimator::recipes
