// TRL's GRPOTrainer (trl 1.16: trainer/grpo_trainer.py), whose completions the policy writes (generation.hpp), or
// vLLM, here or elsewhere, which gets its weights (weight_sync.hpp). A rollout is scored batch by batch, and kept while
// its micro-batches are trained. What a loss makes of the scores is as small as the completions have tokens, whichever
// it is.
#include <algorithm>

#include "generation.hpp"
#include "oomplan/plan/rollout.hpp"
#include "scores.hpp"
#include "unsloth_rollouts.hpp"
#include "weight_sync.hpp"

namespace oomplan::estimator::recipes {
namespace {

using Score = Tensor (*)(Stage&, const Facts&, ScoredRows&);

std::int64_t completion_of(const Facts& facts) {
  return facts.labelled > 0 ? std::min(facts.labelled, facts.length) : std::max<std::int64_t>(facts.length - 1, 1);
}

/// Prompts and completions side by side, and their masks.
ScoredRows joined(Torch& t, std::int64_t rows, std::int64_t length) {
  InBucket bucket(t, Bucket::inputs);
  ScoredRows out;
  out.stream.input_ids = t.empty({rows, length}, DType::int64, "aten::cat");
  out.stream.attention_mask = t.empty({rows, length}, DType::int64, "aten::cat");
  return out;
}

/// One batch of `rollout`.
ScoredRows batch_of(Torch& t, const ScoredRows& rollout, std::int64_t rows) {
  ScoredRows out;
  out.stream.input_ids = t.slice(rollout.stream.input_ids, 0, 0, rows);
  out.stream.attention_mask = t.slice(rollout.stream.attention_mask, 0, 0, rows);
  return out;
}

/// _get_per_token_logps_and_entropies with no gradients. Each batch's scores stay until all are there: so the last one
/// meets the most, and those between the first and it are as good as what they leave.
Tensor scores_of(Stage& stage, Facts facts, const ScoredRows& rollout, Score score) {
  Torch& t = stage.torch();
  facts.checkpointing = false;
  Restore no_grad(t.grad_enabled, false);
  stage.begin(Phase::reference);
  std::vector<Tensor> kept;
  const auto next = [&] {
    ScoredRows rows = batch_of(t, rollout, facts.batch);
    kept.push_back(score(stage, facts, rows));
  };
  const std::int64_t batches = rollout.stream.input_ids->sizes[0] / facts.batch;
  next();
  for (std::int64_t i = 2; i < batches; ++i) {
    InBucket bucket(t, Bucket::logits_and_loss);
    kept.push_back(t.empty({facts.batch, facts.length - 1}, DType::fp32, "aten::masked_scatter"));
  }
  if (batches > 1) next();
  InBucket bucket(t, Bucket::logits_and_loss);
  return t.empty({rollout.stream.input_ids->sizes[0], completion_of(facts)}, DType::fp32, "aten::cat");
}

Tensor reference(Stage& stage, const Facts& facts, ScoredRows& rows) {
  return reference_token_scores(stage, facts, rows);
}

/// Prompts, completions and, where the sampler scored them, its log-probabilities, as they come.
std::vector<Tensor> arrived(Torch& t, std::int64_t rows, std::int64_t prompt, std::int64_t completion, bool scored) {
  InBucket bucket(t, Bucket::inputs);
  std::vector<Tensor> out;
  for (const std::int64_t length : {prompt, prompt, completion, completion}) {
    out.push_back(t.empty({rows, length}, DType::int64, "rollout"));
  }
  if (scored) out.push_back(t.empty({rows, completion}, DType::fp32, "rollout"));
  return out;
}

/// shuffle_sequence_dict: copies of all, before the first is let go.
std::vector<Tensor> shuffled(Torch& t, const std::vector<Tensor>& all) {
  InBucket bucket(t, Bucket::inputs);
  std::vector<Tensor> out;
  for (const Tensor& x : all) out.push_back(t.empty(x->sizes, x->dtype, "aten::index"));
  return out;
}

/// _generate_and_score_completions of so many rows, batch by batch of `facts`.
std::vector<Tensor> rollout_of(Stage& stage, const Facts& facts, std::int64_t rows) {
  Torch& t = stage.torch();
  const RecipeFacts& recipe = stage.plan().recipe;
  const std::int64_t completion = completion_of(facts);
  facts.generates ? generate(stage, facts, rows, completion) : sync_weights(stage);
  stage.begin(Phase::between);
  std::vector<Tensor> all = arrived(t, rows, facts.length - completion, completion, !facts.generates);
  {
    const ScoredRows rollout = joined(t, rows, facts.length);
    if (recipe.second_term.value) all.push_back(scores_of(stage, facts, rollout, policy_token_scores));
    if (recipe.reference.value != Reference::none) all.push_back(scores_of(stage, facts, rollout, reference));
  }
  stage.begin(Phase::between);
  return all;
}

/// What _prepare_inputs makes of it.
void prepare(Stage& stage) {
  const Facts& facts = stage.facts();
  if (facts.unsloth) return prepare_unsloth_rollout(stage);
  const std::int64_t rows = saturating_mul(facts.batch, batches_of_rollout(stage.plan()));
  stage.prepared() = shuffled(stage.torch(), rollout_of(stage, facts, rows));
}

/// _compute_loss: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, ScoredRows& rows) {
  Torch& t = stage.torch();
  const Tensor part = policy_token_scores(stage, facts, rows);
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor scores = t.cat({part}, 0);
  const Tensor advantages = t.empty({facts.batch, 1}, DType::fp32, "advantages");
  const Tensor ratio = t.exp(t.sub(scores, t.detach(scores)));
  const Tensor unclipped = t.mul(ratio, advantages);
  const Tensor clipped = t.mul(t.mul_scalar(ratio), advantages);
  Tensor losses = t.neg(t.minimum(unclipped, clipped));
  if (stage.plan().recipe.reference.value != Reference::none) {
    const Tensor apart = t.sub(t.detach(scores), scores);
    losses = t.add(losses, t.mul_scalar(t.sub(t.exp(apart), apart)));
  }
  rows.stream.loss = t.div_scalar(t.sum_all(losses));
}

void micro_batch(Stage& stage) {
  if (stage.facts().unsloth) return play_unsloth_rollout(stage);
  stage.begin(Phase::forward);
  ScoredRows rows = joined(stage.torch(), stage.facts().batch, stage.facts().length);
  lose(stage, stage.facts(), rows);
  stage.backward(rows.stream);
  stage.begin(Phase::between);
}

/// prediction_step: a rollout of its own for each batch.
void evaluate(Stage& stage) {
  const Facts facts = stage.evaluation_facts();
  stage.without_training([&] {
    const std::vector<Tensor> rollout = rollout_of(stage, facts, facts.batch);
    stage.begin(Phase::evaluation);
    ScoredRows rows = joined(stage.torch(), facts.batch, facts.length);
    lose(stage, facts, rows);
  });
}

}  // namespace

extern const Recipe grpo;
const Recipe grpo{"grpo", policy_and_reference, micro_batch, nullptr, evaluate, prepare};

}  // namespace oomplan::estimator::recipes
