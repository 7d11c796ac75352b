// Language modelling: one model and its loss (transformers' Trainer, TRL's SFTTrainer, Axolotl).
#include <algorithm>

#include "modules/label_smoother.hpp"
#include "recipe.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// SFTTrainer.compute_loss: its metrics are of its own head, which runs the model once more.
void measure(Stage& stage, const Facts& facts, const Objective& objective, Stream batch) {
  Restore no_grad(stage.torch().grad_enabled, false);
  if (stage.torch().recorder.scope.phase != Phase::evaluation) stage.begin(Phase::forward);
  stage.call(Role::policy, facts, objective, batch);
}

/// Trainer.compute_loss, where a label smoother takes the logits of a model that is given no labels.
void lose_smoothed(Stage& stage, const Facts& facts, const Objective& objective, Stream& s) {
  const Stream batch = s;
  stage.call(Role::policy, facts, logits_alone, s);
  InBucket bucket(stage.torch(), Bucket::logits_and_loss);
  s.loss = smoothed_loss(stage.torch(), s.logits, s.labels, objective.task == Task::causal_lm);
  if (objective.loss != Loss::chunked_logprob) return;
  s.logits.reset();
  measure(stage, facts, objective, batch);
}

/// Of the batch, whose last tokens of rows have no next one.
std::int64_t labelled(const Facts& facts) {
  const std::int64_t most = facts.length - 1;
  return saturating_mul(facts.batch, facts.labelled == 0 ? most : std::min(facts.labelled, most));
}

void lose(Stage& stage, const Facts& facts, const Objective& objective, Stream& s) {
  if (stage.plan().recipe.label_smoothing.value) return lose_smoothed(stage, facts, objective, s);
  if (objective.of_logits == nullptr) return stage.call(Role::policy, facts, objective, s);
  stage.call(Role::policy, facts, logits_alone, s);
  InBucket bucket(stage.torch(), Bucket::logits_and_loss);
  s.loss = objective.of_logits(stage.torch(), s.logits, s.labels, labelled(facts));
}

void micro_batch(Stage& stage) {
  stage.begin(Phase::between);
  Stream s = stage.batch(stage.facts());
  stage.begin(Phase::forward);
  lose(stage, stage.facts(), *stage.facts().objective, s);
  if (!stage.plan().recipe.outputs_kept.value) s.drop_output();
  stage.backward(s);
  stage.begin(Phase::between);
}

/// Trainer.prediction_step.
void evaluate(Stage& stage) {
  const Facts facts = stage.evaluation_facts();
  stage.without_training([&] {
    stage.begin(Phase::evaluation);
    Stream s = stage.batch(facts);
    lose(stage, facts, *facts.evaluation_objective, s);
  });
}

}  // namespace

extern const Recipe supervised;
const Recipe supervised{"supervised", policy_alone, micro_batch, nullptr, evaluate};

}  // namespace oomplan::estimator::recipes
