#include <algorithm>
#include <array>

#include "modules/router_loss.hpp"
#include "oomplan/core/bytes.hpp"
#include "recipe.hpp"

namespace oomplan::estimator {
namespace {

/// What outlives the forward function: the batch, and what it returns.
Stream after_forward(const Stream& s) {
  Stream kept;
  kept.input_ids = s.input_ids;
  kept.attention_mask = s.attention_mask;
  kept.labels = s.labels;
  kept.pixels = s.pixels;
  kept.sounds = s.sounds;
  kept.sent = s.sent;
  kept.logits = s.logits;
  kept.returned = s.returned;
  kept.arguments.cache = s.arguments.cache;
  kept.loss = s.loss;
  kept.router_loss = s.router_loss;
  return kept;
}

}  // namespace

std::span<const Role> policy_alone(const TrainingPlan& /*plan*/) {
  static constexpr std::array only{Role::policy};
  return only;
}

Facts Stage::facts_of(Role role, Facts facts) {
  if (role == Role::policy) return facts;
  if (role == Role::teacher) {
    Facts out = *facts.teacher;
    out.batch = facts.batch;
    out.length = facts.length;
    out.padding_mask = facts.padding_mask;
    out.sends_masks = facts.sends_masks;
    return out;
  }
  facts.kind = Adapter::none;
  facts.liger_rms_norm = facts.liger_glu = facts.router_loss = false;
  facts.trained_to_fp32 = false;
  return facts;
}

Facts Stage::evaluation_facts() const {
  Facts f = facts_;
  f.length = plan_.batch.sequence_length.value;
  if (plan_.evaluation.rows.value > 0) f.batch = saturating_mul(plan_.evaluation.rows.value, f.choices);
  if (plan_.evaluation.length.value > 0) f.length = plan_.evaluation.length.value;
  f.padding_mask = f.padding_mask || plan_.evaluation.padded.value;
  f.checkpointing = false;
  return f;
}

const Model& Stage::model(Role role) const { return std::ranges::find(models_, role, &Cast::role)->model; }

namespace {

/// A number for each token of a batch. Of rows that ranks share each keeps the memory of the whole for its part
/// (torch's context_parallel: Tensor.resize_).
Tensor token_numbers(Torch& t, const Facts& f) {
  if (f.context_parallel.ranks == 1) return t.empty({f.batch, f.length}, DType::int64, "batch");
  const Tensor whole = t.empty({f.batch, f.context_parallel.whole}, DType::int64, "batch");
  return t.alias(whole, {f.batch, f.length}, {f.length, 1});
}

}  // namespace

Stream Stage::batch(const Facts& f) {
  Restore bucket(torch_.recorder.scope.bucket, Bucket::inputs);
  Stream s;
  const std::int64_t features = model(Role::policy).features;
  if (f.rows == Rows::sound) {
    s.input_ids = torch_.empty({f.batch, f.length}, f.images.dtype.value_or(f.weights), "batch");
  } else if (f.rows != Rows::pictures && f.rows != Rows::latents) {
    s.input_ids = features > 0 ? torch_.empty({f.batch, features}, f.weights, "batch") : token_numbers(torch_, f);
  }
  const bool of_tokens = f.rows == Rows::tokens || f.rows == Rows::pairs;
  const bool sent = f.padding_mask || f.sends_masks || f.context_parallel.ranks > 1;
  if (of_tokens && sent) s.attention_mask = token_numbers(torch_, f);
  Dims labels{f.batch / f.choices};
  if (!labels_rows(f.task)) {
    const bool apart = f.task == Task::sequence_to_sequence || f.task == Task::ctc;
    labels.push(apart ? f.target_length : f.length);
  }
  // What sends the pixels sends them too.
  const bool by_pixel = f.task == Task::segmentation || f.task == Task::denoising;
  if (!by_pixel && f.task != Task::contrastive) s.labels = torch_.empty(labels, DType::int64, "batch");
  if (f.context_parallel.ranks > 1) {  // shift_labels beside labels
    s.sent.push_back(token_numbers(torch_, f));
    s.labels = token_numbers(torch_, f);
  }
  // end_positions beside start_positions
  if (f.task == Task::question_answering) s.sent.push_back(torch_.empty(labels, DType::int64, "batch"));
  model(Role::policy).collate(torch_, f, s);
  return s;
}

// accelerate's convert_outputs_to_fp32 wraps the forward pass, autocast and all, before the model is wrapped for ranks.
void Stage::raise_outputs(Stream& s) {
  if (!plan_.precision.outputs_to_fp32.value || !s.logits) return;
  InBucket bucket(torch_, Bucket::logits_and_loss);
  s.logits = torch_.to(s.logits, DType::fp32);
  for (Tensor& other : s.returned) other = torch_.to(other, DType::fp32);
  if (s.arguments.cache) s.arguments.cache->raise();
}

void Stage::call(Role role, const Facts& facts, Stream& s, const std::function<void(Play&, const Head&)>& head_and_loss,
                 Leaves leaves, bool of_objective) {
  const Model& model = this->model(role);
  Play play{torch_, facts, *model.policy};
  if (backward_in_autocast()) torch_.enter_autocast(facts.autocast);
  model.policy->enter_model(torch_);
  torch_.enter_autocast(facts.autocast);
  model.base(play, s);
  if (leaves == Leaves::with_the_hidden_states) model.policy->leave_model(torch_, {&s.hidden});
  head_and_loss(play, *model.head);
  if (RouterLogits* collected = s.arguments.router_logits.get()) {
    s.router_loss = router_loss(torch_, *collected, s.attention_mask || facts.mask_sent);
    collected->close();  // Checkpoints hold on to what their blocks were called with.
  }
  s = after_forward(s);
  torch_.exit_autocast();
  if (of_objective) raise_outputs(s);
  if (leaves != Leaves::with_the_loss) return;
  model.policy->leave_model(torch_, {&s.loss, &s.logits});
  for (const Tensor& other : s.returned) model.policy->leave_model_with(torch_, other);
}

bool Stage::backward_in_autocast() const { return plan_.precision.backward_in_autocast.value && torch_.grad_enabled; }

void Stage::call(Role role, const Facts& facts, const Objective& objective, Stream& s) {
  const auto head_and_loss = [&](Play& play, const Head& head) { objective.play(play, head, s); };
  call(role, facts, s, head_and_loss, objective.leaves, true);
}

void Stage::without_training(const std::function<void()>& body) {
  Restore no_grad(torch_.grad_enabled, false);
  Restore in_eval(torch_.training, false);
  body();
}

void Stage::backward(Stream& s) {
  if (s.router_loss) s.loss = torch_.add(s.loss, torch_.mul_scalar(s.router_loss));
  if (plan_.batch.gradient_accumulation_steps.value > 1) s.loss = torch_.div_scalar(s.loss);
  begin(Phase::backward);
  torch_.backward(s.loss);
  model(Role::policy).policy->finish(torch_);
  if (backward_in_autocast()) torch_.exit_autocast();
}

void Stage::fetch_others(const std::function<std::vector<Tensor>()>& make) {
  const std::int64_t others = plan_.batch.gradient_accumulation_steps.value - 1;
  if (others < 1) return;
  Restore bucket(torch_.recorder.scope.bucket, Bucket::inputs);
  std::vector<Tensor> held;
  for (const std::vector<Tensor> kinds = make(); const Tensor& kind : kinds) {
    if (kind) held.push_back(torch_.empty({saturating_mul(others, kind->sizes.product())}, kind->dtype, "batch"));
  }
  prepared_ = std::move(held);
}

}  // namespace oomplan::estimator
