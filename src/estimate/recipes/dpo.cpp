// Direct preference optimisation as TRL's DPOTrainer plays it (trl 1.16: trainer/dpo_trainer.py): chosen and rejected
// rows in one batch, scored by the policy and by a reference with no gradients. What is made of the scores is as small
// as the batch has rows, whichever the loss.
#include <array>

#include "modules/chunked_logprob.hpp"
#include "recipe.hpp"

namespace oomplan::estimator::recipes {
namespace {

std::span<const Role> roles(const TrainingPlan& plan) {
  static constexpr std::array both{Role::policy, Role::reference};
  return std::span(both).first(plan.recipe.reference.value == Reference::model ? 2 : 1);
}

/// The facts of a batch of as many pairs as `facts` has rows. A pair's rows differ in length, so that they are padded.
Facts in_pairs(Facts facts) {
  facts.batch = saturating_mul(facts.batch, 2);
  facts.padding_mask = true;
  return facts;
}

struct Pairs {
  Stream stream{};
  Tensor completion_mask{};
};

/// DataCollatorForPreference.
Pairs arrive(Stage& stage, const Facts& facts) {
  Pairs out{stage.batch(facts)};
  out.completion_mask = std::move(out.stream.labels);
  return out;
}

/// input_ids, but no label where there is no completion.
void label(Torch& t, Pairs& pairs) {
  InBucket bucket(t, Bucket::inputs);
  const Tensor prompt = t.empty(pairs.completion_mask->sizes, DType::boolean, "aten::eq");
  pairs.stream.labels = t.empty(pairs.stream.input_ids->sizes, DType::int64, "aten::masked_fill");
}

TokenLogProbs score(Stage& stage, Role role, const Facts& facts, Stream& s) {
  TokenLogProbs out;
  stage.call(role, facts, s, [&](Play& play, const Head& head) {
    play.torch.recorder.begin_loss();
    InBucket bucket(play.torch, Bucket::logits_and_loss);
    out = chunked_log_probs(play, s.hidden, s.labels, head.projection(), true, play.facts.labelled);
  });
  return out;
}

/// Of each row: the sum over its tokens.
Tensor sum_of_rows(Torch& t, const TokenLogProbs& scores) {
  InBucket bucket(t, Bucket::logits_and_loss);
  return t.sum_last(t.slice(scores.log_probs, 1, 0, scores.log_probs->sizes[1]));
}

/// The policy without its adapter, or another model; never with checkpoints.
Tensor reference_scores(Stage& stage, Facts facts, const Stream& batch) {
  const bool other = stage.plan().recipe.reference.value == Reference::model;
  const Role role = other ? Role::reference : Role::policy;
  if (other) facts = Stage::facts_of(role, facts);
  facts.adapters_off = true;
  facts.checkpointing = false;
  Restore no_grad(stage.torch().grad_enabled, false);
  if (stage.torch().recorder.scope.phase != Phase::evaluation) stage.begin(Phase::reference);
  Stream s = batch;
  return sum_of_rows(stage.torch(), score(stage, role, facts, s));
}

/// DPOTrainer._compute_loss: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, Pairs& pairs) {
  Torch& t = stage.torch();
  label(t, pairs);
  const Stream batch = pairs.stream;
  const TokenLogProbs scores = score(stage, Role::policy, facts, pairs.stream);
  Tensor ratios = sum_of_rows(t, scores);
  if (stage.plan().recipe.reference.value != Reference::precomputed) {
    ratios = t.sub(ratios, reference_scores(stage, facts, batch));
  }
  InBucket bucket(t, Bucket::logits_and_loss);
  pairs.stream.loss = t.div_scalar(t.sum_all(t.neg(ratios)));
}

void micro_batch(Stage& stage) {
  const Facts facts = in_pairs(stage.facts());
  Restore no_dropout(stage.torch().training, false);  // disable_dropout
  stage.begin(Phase::between);
  Pairs pairs = arrive(stage, facts);
  stage.begin(Phase::forward);
  lose(stage, facts, pairs);
  stage.backward(pairs.stream);
  stage.begin(Phase::between);
}

/// DPOTrainer._precompute_ref_logps, as the trainer is made.
void before(Stage& stage) {
  if (stage.plan().recipe.reference.value != Reference::precomputed) return;
  Facts facts = stage.facts();
  if (stage.plan().recipe.reference_rows.value > 0) facts.batch = stage.plan().recipe.reference_rows.value;
  facts = in_pairs(facts);
  stage.without_training([&] {
    stage.begin(Phase::reference);
    Pairs pairs = arrive(stage, facts);
    label(stage.torch(), pairs);
    reference_scores(stage, facts, pairs.stream);
  });
}

void evaluate(Stage& stage) {
  const Facts facts = in_pairs(stage.evaluation_facts());
  stage.without_training([&] {
    stage.begin(Phase::evaluation);
    Pairs pairs = arrive(stage, facts);
    lose(stage, facts, pairs);
  });
}

}  // namespace

extern const Recipe dpo;
const Recipe dpo{"dpo", roles, micro_batch, before, evaluate};

}  // namespace oomplan::estimator::recipes
