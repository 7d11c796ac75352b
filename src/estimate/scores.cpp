#include "scores.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "modules/chunked_logprob.hpp"
#include "modules/selective_log_softmax.hpp"
#include "torch/unsloth.hpp"

namespace oomplan::estimator {
namespace {

/// input_ids, but no label where there is no completion.
void label(Torch& t, ScoredRows& rows) {
  InBucket bucket(t, Bucket::inputs);
  const Tensor prompt = t.empty(rows.stream.input_ids->sizes, DType::boolean, "aten::eq");
  rows.stream.labels = t.empty(rows.stream.input_ids->sizes, DType::int64, "aten::masked_fill");
}

/// Each position's, of which the labelled ones count.
Tensor log_probs_by_fused_head(Stage& stage, Role role, const Facts& facts, Stream& s, bool mean_logits) {
  TokenLogProbs out;
  stage.call(role, facts, s, [&](Play& play, const Head& head) {
    play.torch.recorder.begin_loss();
    InBucket bucket(play.torch, Bucket::logits_and_loss);
    out = chunked_log_probs(play, s.hidden, s.labels, head.projection(), mean_logits, play.facts.labelled);
    s.loss = std::move(out.log_probs);  // What of the model's output is asked for gradients.
  });
  return std::move(s.loss);
}

Tensor score_by_fused_head(Stage& stage, Role role, const Facts& facts, Stream& s) {
  const Tensor log_probs = log_probs_by_fused_head(stage, role, facts, s, true);
  Torch& t = stage.torch();
  InBucket bucket(t, Bucket::logits_and_loss);
  return t.sum_last(t.slice(log_probs, 1, 0, log_probs->sizes[1]));
}

Tensor token_scores(Stage& stage, Role role, const Facts& facts, ScoredRows& rows) {
  if (!rows.stream.labels) label(stage.torch(), rows);
  const Tensor log_probs = log_probs_by_fused_head(stage, role, facts, rows.stream, false);
  const std::int64_t positions = log_probs->sizes[1];
  const std::int64_t kept = facts.labelled == 0 ? positions : std::min(facts.labelled, positions);
  return stage.torch().slice(log_probs, 1, positions - kept, kept);
}

/// Each as of the layer that made it; the first and the last are none's.
template <class Do>
void each_in_layer(Torch& t, std::vector<Tensor>& tensors, Do what) {
  std::int16_t layer = -1;
  for (Tensor& one : tensors) {
    Restore in_layer(t.recorder.scope.layer, &one == &tensors.back() ? std::int16_t{-1} : std::int16_t{layer++});
    what(one);
  }
}

/// model(…, output_hidden_states=True), whose output the caller holds, every layer's hidden states in it.
std::vector<Tensor> call_for_hidden(Stage& stage, Role role, const Facts& facts, Stream& s) {
  std::vector<Tensor> hidden;
  s.returns_hidden = true;
  stage.call(role, facts, s, [&](Play& play, const Head& head) {
    logits_alone.play(play, head, s);
    hidden = *s.all_hidden;
  });
  if (!stage.plan().precision.outputs_to_fp32.value) return hidden;
  Torch& t = stage.torch();
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor logits = std::exchange(s.logits, t.to(s.logits, DType::fp32));  // All of the output, then it goes.
  std::vector<Tensor> raised;
  each_in_layer(t, hidden, [&](const Tensor& one) { raised.push_back(t.to(one, DType::fp32)); });
  each_in_layer(t, hidden, [](Tensor& one) { one.reset(); });
  return raised;
}

/// Each token's, by the logits of the one before it.
Tensor token_log_probs(Torch& t, PairScores how, const Stream& s) {
  const bool cut = how == PairScores::cut || how == PairScores::held;
  const std::int64_t length = s.input_ids->sizes[1] - (cut ? 1 : 0);
  const Tensor labels = t.empty({s.input_ids->sizes[0], length}, DType::int64, "aten::roll");
  if (how == PairScores::by_row) return selective_log_softmax(t, s.logits, labels, LogSoftmax::by_row);
  const Tensor logits = cut ? t.slice(s.logits, 1, 0, length) : s.logits;
  return t.squeeze(t.gather_last(t.log_softmax_last(logits), t.unsqueeze(labels, 2)), 2);
}

/// concatenated_forward of trl 0.9 to 0.11: cross_entropy_loss of the chosen rows' shifted logits.
Tensor loss_of_chosen(Torch& t, const Tensor& logits) {
  const Dims& sizes = logits->sizes;
  const std::int64_t rows = sizes[0] / 2 * (sizes[1] - 1);
  const Tensor chosen = t.contiguous(t.slice(t.slice(logits, 0, 0, sizes[0] / 2), 1, 0, sizes[1] - 1));
  const Tensor labels = t.empty({rows}, DType::int64, "aten::clone");
  return t.cross_entropy(t.view(chosen, {rows, sizes[2]}), labels);
}

/// concatenated_forward of trl 0.9 to 0.28 (trainer/dpo_trainer.py): labels are shifted, and no logits cut off.
Scores score_whole_rows(Stage& stage, Role role, const Facts& facts, ScoredRows& rows) {
  Stream s = rows.stream;
  std::vector<Tensor> hidden;
  if (stage.plan().recipe.outputs_kept.value) {
    hidden = call_for_hidden(stage, role, facts, s);
  } else {
    stage.call(role, facts, logits_alone, s);
  }
  Torch& t = stage.torch();
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor log_probs = token_log_probs(t, facts.pair_scores, s);
  const Tensor sums = t.sum_last(log_probs);
  if (facts.pair_scores == PairScores::held) {
    Tensor chosen_loss = loss_of_chosen(t, s.logits);
    return {sums, std::move(s.logits), std::move(chosen_loss)};
  }
  measure_halves(t, facts, s.logits);
  s.logits.reset();
  each_in_layer(t, hidden, [](Tensor& one) { one.reset(); });
  return {sums, {}};
}

/// Each token by the logits before it.
Scores score_by_logits(Stage& stage, Role role, const Facts& facts, Stream& s) {
  stage.call(role, facts, logits_alone, s);
  Torch& t = stage.torch();
  InBucket bucket(t, Bucket::logits_and_loss);
  const std::int64_t length = s.input_ids->sizes[1] - 1;
  const Tensor log_probs = selective_log_softmax(t, t.slice(s.logits, 1, 0, length), t.slice(s.input_ids, 1, 1, length),
                                                 LogSoftmax::patched);
  return {t.sum_last(log_probs), std::move(s.logits)};
}

Scores score(Stage& stage, Role role, const Facts& facts, ScoredRows& rows) {
  if (stage.plan().recipe.loss.value == Loss::full_logits) {
    return facts.patched_log_softmax ? score_by_logits(stage, role, facts, rows.stream)
                                     : score_whole_rows(stage, role, facts, rows);
  }
  if (!rows.stream.labels) label(stage.torch(), rows);
  return {score_by_fused_head(stage, role, facts, rows.stream), {}};
}

/// get_batch_logps of what the model makes of the rows.
Scores score_labels(Stage& stage, Role role, const Facts& facts, ScoredRows& rows) {
  Torch& t = stage.torch();
  Stream s = rows.stream;
  const Tensor labels = std::move(s.labels);
  stage.call(role, facts, logits_alone, s);
  InBucket bucket(t, Bucket::logits_and_loss);
  Tensor logits = t.to(s.logits, DType::fp32);
  s.logits.reset();
  const std::int64_t length = labels->sizes[1] - 1;
  const Tensor index = t.clone(t.slice(labels, 1, 1, length));
  const Tensor mask = t.empty(index->sizes, DType::boolean, "aten::ne");
  const Tensor log_probs = t.gather_last(t.log_softmax_last(t.slice(logits, 1, 0, length)), t.unsqueeze(index, 2));
  return {t.sum_last(t.mul_scalar(t.squeeze(log_probs, 2))), std::move(logits)};
}

template <class Out>
Out by_reference(Stage& stage, const Facts& policy_facts, const ScoredRows& rows,
                 Out (*scored)(Stage&, Role, const Facts&, ScoredRows&)) {
  const bool other = stage.plan().recipe.reference.value == Reference::model;
  const Role role = other ? Role::reference : Role::policy;
  Facts facts = other ? Stage::facts_of(role, policy_facts) : policy_facts;
  facts.adapters_off = true;
  facts.checkpointing = facts.router_loss = false;
  if (stage.torch().unsloth != nullptr) stage.torch().unsloth->count();
  Restore no_grad(stage.torch().grad_enabled, false);
  if (stage.torch().recorder.scope.phase != Phase::evaluation) stage.begin(Phase::reference);
  ScoredRows batch = rows;
  return scored(stage, role, facts, batch);
}

}  // namespace

void measure_halves(Torch& t, const Facts& facts, const Tensor& logits) {
  const std::int64_t longest = logits->sizes[1] - 1;
  const std::int64_t tokens = facts.labelled > 0 ? std::min(facts.labelled, longest) : longest;
  const std::int64_t rows = saturating_mul(logits->sizes[0] / 2, tokens);
  for (int kind = 0; kind < 2; ++kind) t.empty({rows, logits->sizes.back()}, logits->dtype, "aten::index");
}

Facts in_pairs(Facts facts) {
  facts.batch = saturating_mul(facts.batch, 2);
  facts.sends_masks = true;
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

std::vector<Tensor> kinds_of(const ScoredRows& rows) {
  return {rows.stream.input_ids, rows.stream.attention_mask, rows.completion_mask};
}

Scores policy_scores(Stage& stage, const Facts& facts, ScoredRows& rows) {
  return score(stage, Role::policy, facts, rows);
}

Scores reference_scores(Stage& stage, const Facts& facts, const ScoredRows& rows) {
  return by_reference<Scores>(stage, facts, rows, score);
}

Scores policy_label_scores(Stage& stage, const Facts& facts, ScoredRows& rows) {
  return score_labels(stage, Role::policy, facts, rows);
}

Scores reference_label_scores(Stage& stage, const Facts& facts, const ScoredRows& rows) {
  return by_reference<Scores>(stage, facts, rows, score_labels);
}

Tensor policy_token_scores(Stage& stage, const Facts& facts, ScoredRows& rows) {
  return token_scores(stage, Role::policy, facts, rows);
}

Tensor reference_token_scores(Stage& stage, const Facts& facts, const ScoredRows& rows) {
  return by_reference<Tensor>(stage, facts, rows, token_scores);
}

Facts precomputing(Stage& stage) {
  Facts facts = stage.facts();
  if (stage.plan().recipe.reference_rows.value > 0) facts.batch = stage.plan().recipe.reference_rows.value;
  return facts;
}

}  // namespace oomplan::estimator
