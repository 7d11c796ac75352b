#include "scores.hpp"

#include <algorithm>
#include <array>

#include "modules/chunked_logprob.hpp"

namespace oomplan::estimator {
namespace {

/// input_ids, but no label where there is no completion.
void label(Torch& t, ScoredRows& rows) {
  InBucket bucket(t, Bucket::inputs);
  const Tensor prompt = t.empty(rows.stream.input_ids->sizes, DType::boolean, "aten::eq");
  rows.stream.labels = t.empty(rows.stream.input_ids->sizes, DType::int64, "aten::masked_fill");
}

/// Which scores the trainer has its fused head make.
enum class Scores : std::uint8_t { of_rows, of_tokens };

Tensor score(Stage& stage, Role role, const Facts& facts, Stream& s, Scores kind) {
  TokenLogProbs out;
  const bool rows = kind == Scores::of_rows;
  stage.call(role, facts, s, [&](Play& play, const Head& head) {
    play.torch.recorder.begin_loss();
    InBucket bucket(play.torch, Bucket::logits_and_loss);
    out = chunked_log_probs(play, s.hidden, s.labels, head.projection(), rows, play.facts.labelled);
  });
  Torch& t = stage.torch();
  InBucket bucket(t, Bucket::logits_and_loss);
  const std::int64_t positions = out.log_probs->sizes[1];
  const std::int64_t kept = rows || facts.labelled == 0 ? positions : std::min(facts.labelled, positions);
  const Tensor scores = t.slice(out.log_probs, 1, positions - kept, kept);
  return rows ? t.sum_last(scores) : scores;
}

Tensor by_reference(Stage& stage, const Facts& policy_facts, const ScoredRows& rows, Scores kind) {
  const bool other = stage.plan().recipe.reference.value == Reference::model;
  const Role role = other ? Role::reference : Role::policy;
  Facts facts = other ? Stage::facts_of(role, policy_facts) : policy_facts;
  facts.adapters_off = true;
  facts.checkpointing = false;
  Restore no_grad(stage.torch().grad_enabled, false);
  if (stage.torch().recorder.scope.phase != Phase::evaluation) stage.begin(Phase::reference);
  ScoredRows scored = rows;
  if (!scored.stream.labels) label(stage.torch(), scored);
  return score(stage, role, facts, scored.stream, kind);
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
  return score(stage, Role::policy, facts, rows.stream, Scores::of_rows);
}

Tensor reference_scores(Stage& stage, const Facts& facts, const ScoredRows& rows) {
  return by_reference(stage, facts, rows, Scores::of_rows);
}

Tensor policy_token_scores(Stage& stage, const Facts& facts, ScoredRows& rows) {
  label(stage.torch(), rows);
  return score(stage, Role::policy, facts, rows.stream, Scores::of_tokens);
}

Tensor reference_token_scores(Stage& stage, const Facts& facts, const ScoredRows& rows) {
  return by_reference(stage, facts, rows, Scores::of_tokens);
}

Facts precomputing(Stage& stage) {
  Facts facts = stage.facts();
  if (stage.plan().recipe.reference_rows.value > 0) facts.batch = stage.plan().recipe.reference_rows.value;
  return facts;
}

}  // namespace oomplan::estimator
