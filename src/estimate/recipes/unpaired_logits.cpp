// LLaMA-Factory's CustomKTOTrainer (0.9.5: train/kto/trainer.py): rows, and the same prompts with each other's
// completions for the KL divergence, scored by the policy and by a reference. What is made of the scores is as small as
// the batch has rows.
#include "one_loss.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// KTODataCollatorWithPadding.
struct Batch {
  ScoredRows rows{};
  ScoredRows mismatched{};
};

Batch collate(Stage& stage, const Facts& facts) { return {{stage.batch(facts), {}}, {stage.batch(facts), {}}}; }

/// Of a batch: the scores, and the logits of the wanted rows and of the others, which are copies of all.
Scores split_by_tag(Torch& t, Scores scores) {
  InBucket bucket(t, Bucket::logits_and_loss);
  scores.logits = t.empty(scores.logits->sizes, scores.logits->dtype, "aten::index");
  return scores;
}

/// concatenated_forward, by the policy.
Scores score(Stage& stage, const Facts& facts, Batch& batch) {
  Scores rows = policy_label_scores(stage, facts, batch.rows);
  Restore no_grad(stage.torch().grad_enabled, false);
  policy_label_scores(stage, facts, batch.mismatched);
  return split_by_tag(stage.torch(), std::move(rows));
}

/// The same by the reference.
Scores score_by_reference(Stage& stage, const Facts& facts, const Batch& batch) {
  Scores rows = reference_label_scores(stage, facts, batch.rows);
  reference_label_scores(stage, facts, batch.mismatched);
  return split_by_tag(stage.torch(), std::move(rows));
}

/// get_batch_loss_metrics: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, Batch& batch) {
  Torch& t = stage.torch();
  const Scores policy = score(stage, facts, batch);
  const Tensor reference = score_by_reference(stage, facts, batch).sums;
  InBucket bucket(t, Bucket::logits_and_loss);
  batch.rows.stream.loss = t.div_scalar(t.sum_all(t.neg(t.sub(policy.sums, reference))));
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().drops, false);  // disable_dropout
  train_on(stage, stage.facts(), collate, lose);
}

void evaluate(Stage& stage) { evaluate_on(stage, stage.evaluation_facts(), collate, lose); }

}  // namespace

extern const Recipe unpaired_logits;
const Recipe unpaired_logits{"unpaired_logits", policy_and_reference, micro_batch, nullptr, evaluate};

}  // namespace oomplan::estimator::recipes
