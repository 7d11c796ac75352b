// LLaMA-Factory's CustomDPOTrainer (0.9.5: train/dpo/trainer.py): pairs of a chosen and a rejected row in one batch,
// scored by the policy, whose logits the trainer holds on to, and unless the loss is ORPO's or SimPO's by a reference.
// What is made of the scores is as small as the batch has rows, whichever the loss.
#include "one_loss.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// PairwiseDataCollatorWithPadding: chosen rows, then rejected ones.
ScoredRows collate(Stage& stage, const Facts& facts) { return {stage.batch(facts), {}}; }

/// get_batch_loss_metrics: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, ScoredRows& pairs) {
  Torch& t = stage.torch();
  const Scores policy = policy_label_scores(stage, facts, pairs);
  const bool compares = stage.plan().recipe.reference.value != Reference::none;
  const Scores reference = compares ? reference_label_scores(stage, facts, pairs) : Scores{};
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor ratios = compares ? t.sub(policy.sums, reference.sums) : policy.sums;
  pairs.stream.loss = t.div_scalar(t.sum_all(t.neg(ratios)));
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().drops, false);  // disable_dropout
  train_on(stage, in_pairs(stage.facts()), collate, lose);
}

void evaluate(Stage& stage) { evaluate_on(stage, in_pairs(stage.evaluation_facts()), collate, lose); }

}  // namespace

extern const Recipe paired_logits;
const Recipe paired_logits{"paired_logits", policy_and_reference, micro_batch, nullptr, evaluate};

}  // namespace oomplan::estimator::recipes
