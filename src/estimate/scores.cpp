#include "scores.hpp"

#include <array>

#include "modules/chunked_logprob.hpp"

namespace oomplan::estimator {
namespace {

/// input_ids, but no label where there is no completion.
void label(Torch& t, ScoredRows& rows) {
  InBucket bucket(t, Bucket::inputs);
  const Tensor prompt = t.empty(rows.completion_mask->sizes, DType::boolean, "aten::eq");
  rows.stream.labels = t.empty(rows.stream.input_ids->sizes, DType::int64, "aten::masked_fill");
}

Tensor score(Stage& stage, Role role, const Facts& facts, Stream& s) {
  TokenLogProbs out;
  stage.call(role, facts, s, [&](Play& play, const Head& head) {
    play.torch.recorder.begin_loss();
    InBucket bucket(play.torch, Bucket::logits_and_loss);
    out = chunked_log_probs(play, s.hidden, s.labels, head.projection(), true, play.facts.labelled);
  });
  Torch& t = stage.torch();
  InBucket bucket(t, Bucket::logits_and_loss);
  return t.sum_last(t.slice(out.log_probs, 1, 0, out.log_probs->sizes[1]));
}

}  // namespace

Facts in_pairs(Facts facts) {
  facts.batch = saturating_mul(facts.batch, 2);
  facts.padding_mask = true;
  return facts;
}

std::span<const Role> policy_and_reference(const TrainingPlan& plan) {
  static constexpr std::array both{Role::policy, Role::reference};
  return std::span(both).first(plan.recipe.reference.value == Reference::model ? 2 : 1);
}

ScoredRows arrive(Stage& stage, const Facts& facts) {
  ScoredRows out{stage.batch(facts)};
  out.completion_mask = std::move(out.stream.labels);
  return out;
}

Tensor policy_scores(Stage& stage, const Facts& facts, ScoredRows& rows) {
  label(stage.torch(), rows);
  return score(stage, Role::policy, facts, rows.stream);
}

Tensor reference_scores(Stage& stage, const Facts& policy_facts, const ScoredRows& rows) {
  const bool other = stage.plan().recipe.reference.value == Reference::model;
  const Role role = other ? Role::reference : Role::policy;
  Facts facts = other ? Stage::facts_of(role, policy_facts) : policy_facts;
  facts.adapters_off = true;
  facts.checkpointing = false;
  Restore no_grad(stage.torch().grad_enabled, false);
  if (stage.torch().recorder.scope.phase != Phase::evaluation) stage.begin(Phase::reference);
  ScoredRows scored = rows;
  if (!scored.stream.labels) label(stage.torch(), scored);
  return score(stage, role, facts, scored.stream);
}

Facts precomputing(Stage& stage) {
  Facts facts = stage.facts();
  if (stage.plan().recipe.reference_rows.value > 0) facts.batch = stage.plan().recipe.reference_rows.value;
  return facts;
}

}  // namespace oomplan::estimator
