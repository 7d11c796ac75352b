// Language modelling: one model and its loss (transformers' Trainer, TRL's SFTTrainer, Axolotl).
#include "modules/label_smoother.hpp"
#include "modules/token_metrics.hpp"
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
  return saturating_mul(facts.batch, labelled_positions(facts.labelled, facts.length - 1));
}

/// The autocast of a loop that makes the loss itself, around the model's.
class InLoop {
 public:
  InLoop(Torch& torch, const Facts& facts, const Objective& objective) : torch_(torch), is_(objective.in_loop) {
    if (is_) torch_.enter_autocast(facts.autocast);
  }
  InLoop(const InLoop&) = delete;
  InLoop& operator=(const InLoop&) = delete;
  ~InLoop() {
    if (is_) torch_.exit_autocast();
  }

 private:
  Torch& torch_;
  bool is_;
};

void lose_alone(Stage& stage, const Facts& facts, const Objective& objective, Stream& s) {
  if (stage.plan().recipe.label_smoothing.value) return lose_smoothed(stage, facts, objective, s);
  if (objective.of_logits == nullptr) return stage.call(Role::policy, facts, objective, s);
  const InLoop around(stage.torch(), facts, objective);
  stage.call(Role::policy, facts, objective.play == nullptr ? logits_alone : objective, s);
  const Tensor of_model = std::move(s.loss);
  InBucket bucket(stage.torch(), Bucket::logits_and_loss);
  s.loss = objective.of_logits(stage.torch(), s.logits, s.labels, labelled(facts));
}

void lose(Stage& stage, const Facts& facts, const Objective& objective, Stream& s) {
  lose_alone(stage, facts, objective, s);
  InBucket bucket(stage.torch(), Bucket::logits_and_loss);
  measure_tokens(stage.torch(), facts.token_metrics, s.logits);
}

/// A batch arrives, whose variables held the one before.
Stream next_batch(Stage& stage, const Facts& facts, Stream& held) {
  Stream s = stage.batch(facts);
  held.input_ids.reset();
  held.labels.reset();
  return s;
}

/// The model's output takes the place of the batch's before, and the loss is made of it.
void lose_output(Stage& stage, const Facts& facts, const Objective& objective, Stream& s, Stream& held) {
  Torch& t = stage.torch();
  const InLoop around(t, facts, objective);
  stage.call(Role::policy, facts, objective, s);
  InBucket bucket(t, Bucket::logits_and_loss);
  if (stage.plan().precision.outputs_to_fp32.value) {
    std::vector<Tensor> raised;
    for (const Tensor& chunk : s.returned) raised.push_back(t.to(chunk, DType::fp32));
    s.returned = std::move(raised);
  }
  held = s;
  objective.of_output(t, s);
}

void loop_micro_batch(Stage& stage) {
  stage.begin(Phase::between);
  Stream s = next_batch(stage, stage.facts(), stage.held());
  stage.begin(Phase::forward);
  lose_output(stage, stage.facts(), *stage.facts().objective, s, stage.held());
  stage.backward(s);
  stage.begin(Phase::between);
}

/// Of two batches, as the second meets the first one's logits.
void evaluate_in_loop(Stage& stage, const Facts& facts) {
  Stream held;
  for (int i = 0; i < 2; ++i) {
    Stream s = next_batch(stage, facts, held);
    lose_output(stage, facts, *facts.evaluation_objective, s, held);
  }
}

/// torchtitan's list has them on the host, but for the ids of those that were played.
void fetch_others(Stage& stage) {
  const bool batches = stage.facts().task != Task::denoising;  // Its scripts make each micro-batch as it comes.
  const bool trainer = batches && stage.facts().objective->of_output == nullptr && !stage.plan().framework.empty();
  if (!trainer) return;
  stage.fetch_others([&] {
    const Stream one = stage.batch(stage.facts());
    std::vector<Tensor> kinds{one.input_ids};
    if (stage.facts().objective->loss != Loss::summed_logits)
      kinds.insert(kinds.end(), {one.attention_mask, one.labels, one.pixels, one.sounds});
    kinds.insert(kinds.end(), one.sent.begin(), one.sent.end());
    return kinds;
  });
}

void micro_batch(Stage& stage) {
  if (stage.facts().objective->of_output != nullptr) return loop_micro_batch(stage);
  stage.begin(Phase::between);
  Tensor last_loss = std::move(stage.held().loss);
  stage.held() = {};
  Stream s = stage.batch(stage.facts());
  if (stage.facts().objective->in_loop) {
    stage.held().input_ids = s.input_ids;
    stage.held().labels = s.labels;
  }
  stage.begin(Phase::forward);
  lose(stage, stage.facts(), *stage.facts().objective, s);
  last_loss.reset();
  if (stage.facts().holds_gradients) stage.held().loss = s.loss;
  if (!stage.plan().recipe.outputs_kept.value) s.drop_output();
  stage.backward(s);
  stage.begin(Phase::between);
}

/// Trainer.prediction_step.
void evaluate(Stage& stage) {
  const Facts facts = stage.evaluation_facts();
  stage.without_training([&] {
    stage.begin(Phase::evaluation);
    if (facts.evaluation_objective->of_output != nullptr) return evaluate_in_loop(stage, facts);
    Stream s = stage.batch(facts);
    lose(stage, facts, *facts.evaluation_objective, s);
  });
}

}  // namespace

extern const Recipe supervised;
const Recipe supervised{"supervised", policy_alone, micro_batch, nullptr, evaluate, fetch_others};

}  // namespace oomplan::estimator::recipes
