#include "run.hpp"

#include <map>

#include "facts.hpp"
#include "optimizer.hpp"

namespace oomplan::estimator {
namespace {

// The optimizer's state appears in the first step; the second is what every later one is.
constexpr std::size_t enough_steps = 2;

/// Of each step's rows.
std::vector<std::int64_t> lengths_of(const TrainingPlan& plan) {
  if (!plan.batch.lengths.value.empty()) return plan.batch.lengths.value;
  return std::vector<std::int64_t>(enough_steps, plan.batch.sequence_length.value);
}

Stream load_batch(Torch& t, const Facts& f) {
  Restore bucket(t.recorder.scope.bucket, Bucket::inputs);
  Stream s;
  s.input_ids = t.empty({f.batch, f.length}, DType::int64, "batch");
  if (f.padding_mask) s.attention_mask = t.empty({f.batch, f.length}, DType::int64, "batch");
  s.labels = t.empty({f.batch, f.length}, DType::int64, "batch");
  return s;
}

/// What outlives the forward function: the batch, and what it returns.
Stream after_forward(const Stream& s) {
  Stream kept;
  kept.input_ids = s.input_ids;
  kept.attention_mask = s.attention_mask;
  kept.labels = s.labels;
  kept.logits = s.logits;
  kept.loss = s.loss;
  return kept;
}

void forward(Play& play, const Model& model, const TrainingPlan& plan, Stream& s) {
  Torch& t = play.torch;
  t.enter_autocast(play.facts.autocast);
  model.forward(play, s);
  s = after_forward(s);
  t.exit_autocast();
  // accelerate's convert_outputs_to_fp32 wraps the forward pass, autocast and all.
  if (plan.precision.outputs_to_fp32.value && s.logits) {
    InBucket bucket(t, Bucket::logits_and_loss);
    s.logits = t.to(s.logits, DType::fp32);
  }
}

/// Trainer.prediction_step: no gradients, and in eval() neither checkpoints nor dropout.
void evaluate(Torch& t, Facts facts, const Model& model, const TrainingPlan& plan) {
  if (plan.evaluation.rows.value > 0) facts.batch = plan.evaluation.rows.value;
  if (plan.evaluation.length.value > 0) facts.length = plan.evaluation.length.value;
  facts.padding_mask = facts.padding_mask || plan.evaluation.padded.value;
  facts.checkpointing = false;
  Restore no_grad(t.grad_enabled, false);
  Restore in_eval(t.training, false);
  t.recorder.mark(Phase::evaluation);
  Play play{t, facts};
  Stream s = load_batch(t, facts);
  forward(play, model, plan, s);
}

void micro_batch(Play& play, const Model& model, const TrainingPlan& plan) {
  Torch& t = play.torch;
  t.recorder.mark(Phase::between);
  Stream s = load_batch(t, play.facts);
  t.recorder.mark(Phase::forward);
  forward(play, model, plan, s);
  if (!plan.recipe.outputs_kept.value) s.logits.reset();
  if (plan.batch.gradient_accumulation_steps.value > 1) s.loss = t.div_scalar(s.loss);
  t.recorder.mark(Phase::backward);
  t.backward(s.loss);
  t.recorder.mark(Phase::between);
}

void optimizer_step(Torch& t, const Model& model, const TrainingPlan& plan, Optimizer& optimizer) {
  t.recorder.mark(Phase::optimizer_step);
  if (plan.optimizer.clip_gradients.value) clip_gradients(t, model.parameters);
  optimizer.step(t, model.parameters);
  t.recorder.mark(Phase::between);
  if (!plan.optimizer.set_grads_to_none.value) return;
  for (const Parameter& p : model.parameters) {
    Restore layer(t.recorder.scope.layer, std::int16_t{p.layer()});
    p.held->grad.reset();
  }
}

bool any_gradient(const Parameters& parameters) {
  return std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return bool(p.held->grad); });
}

/// Nothing that a micro-batch of one length could see changes from one to the next but whether the parameters have
/// gradients already. So one is played, and the others are written down from what it did.
class MicroBatches {
 public:
  MicroBatches(Torch& torch, const Model& model, const Facts& facts) : torch_(torch), model_(model), facts_(facts) {}

  void next(const TrainingPlan& plan, std::int64_t length) {
    const auto [at, fresh] = played_.try_emplace(length);
    if (!fresh) return repeat(at->second, any_gradient(model_.parameters));
    facts_.length = length;
    Play play{torch_, facts_};
    at->second.begin = torch_.recorder.position();
    micro_batch(play, model_, plan);
    at->second.end = torch_.recorder.position();
    for (const Parameter& p : model_.parameters) {
      const Tensor& g = p.held->grad;
      at->second.gradients.push_back(g ? Gradient{g->storage, g->dtype, g->sizes, g->strides} : Gradient{});
    }
  }

 private:
  struct Gradient {
    StorageId storage = StorageId::none;
    DType dtype = DType::fp32;
    Dims sizes{};
    Dims strides{};
  };
  struct Played {
    Recorder::Position begin{};
    Recorder::Position end{};
    std::vector<Gradient> gradients{};  ///< Of each parameter at the end.
  };

  void repeat(const Played& played, bool accumulates) const {
    const std::size_t first = torch_.recorder.position().storage;
    torch_.recorder.repeat(played.begin, played.end, accumulates);
    for (std::size_t i = 0; i < played.gradients.size() && !accumulates; ++i) {
      const Gradient& g = played.gradients[i];
      if (g.storage == StorageId::none) continue;
      const auto storage = static_cast<StorageId>(static_cast<std::size_t>(g.storage) - played.begin.storage + first);
      model_.parameters[i].held->grad = torch_.on_storage(storage, g.sizes, g.strides, g.dtype);
    }
  }

  Torch& torch_;
  const Model& model_;
  Facts facts_;
  std::map<std::int64_t, Played> played_{};  ///< By length.
};

/// Whether every sum over the run stays far from the end of 64 bits: all that is ever allocated, in every block.
bool is_countable(const Recorder& recorder, const Architecture& architecture) {
  constexpr std::int64_t limit = std::int64_t{1} << 61;
  std::int64_t all = 0;
  for (const Storage& s : recorder.storages) all = saturating_add(all, s.bytes);
  return saturating_mul(all, architecture.layers) < limit;
}

// Pools and lists as large as a run needs them; asking the system for them anew costs as much as playing.
thread_local std::unique_ptr<Run> left_run;

}  // namespace

void LeaveRun::operator()(Run* run) const {
  run->optimizer.reset();
  run->model = {};
  run->torch.clear();
  left_run.reset(run);
}

Result<RunPtr> play_run(const TrainingPlan& plan, const Facts& facts, const Architecture& architecture,
                        const Repetition& repetition) {
  RunPtr run(left_run ? left_run.release() : new Run);
  Torch& torch = run->torch;
  torch.recorder.mark(Phase::load);
  Result<Model> model = build(torch, facts, architecture, repetition);
  if (!model) return model.errors();
  run->model = std::move(*model);
  run->optimizer = make_optimizer(plan.optimizer.name.value, plan.optimizer.fp32_embedding_state.value);
  MicroBatches micro_batches(torch, run->model, facts);
  const std::vector<std::int64_t> lengths = lengths_of(plan);
  // From the third micro-batch on every one is the second over again.
  const std::int64_t count = std::min<std::int64_t>(plan.batch.gradient_accumulation_steps.value, 2);
  for (const std::int64_t length : lengths) {
    ++torch.recorder.step;
    for (std::int64_t i = 0; i < count; ++i) micro_batches.next(plan, length);
    optimizer_step(torch, run->model, plan, *run->optimizer);
    if (torch.recorder.step == 1 && plan.evaluation.evaluates.value) evaluate(torch, facts, run->model, plan);
  }
  if (!is_countable(torch.recorder, architecture)) return too_large_batch(plan);
  return run;
}

}  // namespace oomplan::estimator
