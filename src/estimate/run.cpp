#include "run.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <map>

#include "checks.hpp"
#include "facts.hpp"
#include "in_backward.hpp"
#include "oomplan/plan/rollout.hpp"
#include "pipeline/parts.hpp"
#include "pipeline/pipeline.hpp"
#include "play.hpp"
#include "policies/policies.hpp"
#include "saving.hpp"
#include "unsloth_checks.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

// The optimizer's state appears in the first step, so that at least two are played; no recipe needs as many as the
// most.
constexpr int fewest_rounds = 2;
constexpr int most_rounds = 8;

/// optimizer.zero_grad()
void zero_gradients(Torch& t, const Parameters& parameters, const TrainingPlan& plan) {
  if (!plan.optimizer.set_grads_to_none.value) return;
  for (const Parameter& p : parameters) {
    Restore layer(t.recorder.scope.layer, std::int16_t{p.layer()});
    p.held->grad.reset();
  }
}

void optimizer_step(Torch& t, Policy& policy, const Parameters& parameters, const TrainingPlan& plan,
                    Optimizer& optimizer) {
  t.recorder.mark(Phase::optimizer_step);
  policy.step(t, optimizer, plan.optimizer, parameters);
  t.recorder.mark(Phase::between);
}

/// Of all stages of a rank, which one optimizer steps.
Parameters parameters_of(const std::vector<Cast>& stages) {
  Parameters out;
  for (const Cast& stage : stages) out.insert(out.end(), stage.model.parameters.begin(), stage.model.parameters.end());
  return out;
}

bool any_gradient(const Parameters& parameters) {
  return std::any_of(parameters.begin(), parameters.end(), [](const Parameter& p) { return bool(p.held->grad); });
}

/// The hooks of a training step, where the plan has some.
class Offloading {
 public:
  Offloading(Torch& torch, const TrainingPlan& plan) : torch_(torch) {
    const Offload how = plan.checkpointing.offload.value;
    if (how == Offload::none || how == Offload::buffered) return;
    const bool adapted = plan.adapter.kind.value != Adapter::none;
    torch.offload = &hooks_.emplace(torch, ActivationOffload::Style{
                                               .streams = how != Offload::synchronous,
                                               .clones_first = how == Offload::streamed_clones,
                                               .knows_weights = how == Offload::streamed || !adapted,
                                           });
  }
  Offloading(const Offloading&) = delete;
  Offloading& operator=(const Offloading&) = delete;
  ~Offloading() {
    if (hooks_) hooks_->clear();
    torch_.offload = nullptr;
  }

 private:
  Torch& torch_;
  std::optional<ActivationOffload> hooks_{};
};

/// Nothing that a micro-batch of one length could see changes from one to the next but whether the parameters have
/// gradients already. So one is played, and the others are written down from what it did.
class MicroBatches {
 public:
  MicroBatches(Stage& stage, const Recipe& recipe)
      : stage_(stage), recipe_(recipe), torch_(stage.torch()), model_(stage.model(Role::policy)) {}

  /// `last`: of those before an optimizer step.
  void next(std::int64_t length, bool last) {
    const auto [at, fresh] = played_.try_emplace(length);
    const Objective& objective = *stage_.facts().objective;
    const bool holds =
        objective.of_output != nullptr || objective.in_loop || recipe_.holds || stage_.facts().holds_gradients;
    // Unsloth's buffers make the first one unlike the second, and so does what a module keeps; what an offload's hooks
    // hold on to is there until the next one's backward pass.
    const bool holds_on = torch_.unsloth != nullptr || model_.remembers || torch_.offload_at();
    const bool alike = !stage_.plan().optimizer.in_backward.value && !holds_on;
    const bool repeats = model_.policy->repeats() && !holds && alike;
    if (!fresh && repeats) return repeat(at->second, any_gradient(model_.parameters));
    stage_.facts().length = length;
    model_.policy->begin(torch_, last);
    at->second.begin = torch_.recorder.position();
    {
      const Offloading offloading(torch_, stage_.plan());
      recipe_.micro_batch(stage_);
    }
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

  Stage& stage_;
  const Recipe& recipe_;
  Torch& torch_;
  const Model& model_;
  std::map<std::int64_t, Played> played_{};  ///< By length.
};

/// Whether what is alive after the events from `first` on is what was alive before, bucket by bucket.
bool leaves_what_it_found(const Recorder& recorder, std::size_t first) {
  std::array<std::uint64_t, bucket_count> net{};  // Sizes that no machine has wrap, and cancel all the same.
  for (std::size_t i = first; i < recorder.events.size(); ++i) {
    const Event& e = recorder.events[i];
    const Storage& s = recorder.at(e.storage);
    const auto bytes = static_cast<std::uint64_t>(s.bytes);
    net[static_cast<std::size_t>(s.bucket)] += e.allocates ? bytes : 0 - bytes;
  }
  return std::ranges::all_of(net, [](std::uint64_t bytes) { return bytes == 0; });
}

/// The steps of a run, each the micro-batches of one length, the optimizer, and what lies between it and the next.
class Steps {
 public:
  /// `pipeline`: what takes the micro-batches of a step, or null.
  Steps(Stage& stage, const Recipe& recipe, const Architecture& architecture, Optimizer& optimizer, Pipeline* pipeline)
      : stage_(stage),
        recipe_(recipe),
        architecture_(architecture),
        optimizer_(optimizer),
        micro_batches_(stage, recipe),
        pipeline_(pipeline),
        of_stages_(pipeline == nullptr ? Parameters{} : parameters_of(stage.models())) {}

  void play() {
    const std::vector<std::int64_t>& lengths = stage_.plan().batch.lengths.value;
    for (const std::int64_t length : lengths) step(length);
    if (lengths.empty()) play_alike();
    // torch.save and safetensors copy one tensor after the other to the CPU.
    if (!counts_saving(stage_.plan())) return;
    stage_.begin(Phase::checkpoint_save);
    convert_weights(stage_.torch(), stage_.plan(), architecture_, stage_.model(Role::policy).parameters);
  }

 private:
  void play_alike() {
    const Recorder& recorder = stage_.torch().recorder;
    const std::int64_t length = stage_.facts().length;
    for (int round = 1; round <= most_rounds; ++round) {
      const std::size_t first = recorder.events.size();
      step(length);
      if (round == stage_.plan().batch.max_steps.value) return;
      const std::int64_t fewest = fewest_rounds + steps_a_rollout() - 1 + (evaluates() ? 1 : 0);
      if (round >= fewest && leaves_what_it_found(recorder, first)) return;
    }
    assert(false);
  }

  void step(std::int64_t length) {
    Torch& torch = stage_.torch();
    const TrainingPlan& plan = stage_.plan();
    ++torch.recorder.step;
    // From the third micro-batch on every one is the second over again, but the last, where a policy reduces gradients.
    const std::int64_t enough = stage_.model(Role::policy).policy->repeats() ? 2 : 3;
    const std::int64_t count = std::min(plan.batch.gradient_accumulation_steps.value, enough);
    const Model& model = stage_.model(Role::policy);
    const Parameters& parameters = pipeline_ == nullptr ? model.parameters : of_stages_;
    const bool zeroes_first = stage_.facts().objective->in_loop;  // So that evaluation meets the gradients.
    if (zeroes_first) zero_gradients(torch, parameters, plan);
    const bool prepares = (torch.recorder.step - 1) % steps_a_rollout() == 0;
    if (recipe_.prepare != nullptr && pipeline_ == nullptr && prepares) prepare(length);
    if (pipeline_ != nullptr) pipeline_->step();
    for (std::int64_t i = 0; i < count && pipeline_ == nullptr; ++i) {
      if (i > 0 && has_rollouts_within()) prepare(length);
      micro_batches_.next(length, i + 1 == count);
    }
    if (!plan.optimizer.in_backward.value) {
      hold_gradients(model);
      optimizer_step(torch, *model.policy, parameters, plan, optimizer_);
      if (!zeroes_first) zero_gradients(torch, parameters, plan);
    }
    if (torch.recorder.step == evaluated_after() && evaluates()) evaluate();
  }

  /// LLaMA-Factory's second trainer (v1/core/base_trainer.py: fit) lists what it clips, in a variable of its loop.
  void hold_gradients(const Model& model) {
    if (!stage_.facts().holds_gradients) return;
    clipped_.clear();
    for (const Parameter& p : model.parameters) {
      if (p.held->grad) clipped_.push_back(p.held->grad);
    }
  }

  /// What a batch leaves gathered is whole in the next one.
  void evaluate() {
    recipe_.evaluate(stage_);
    const Sharding sharding = stage_.plan().mesh.sharding.value;
    const bool gathers = sharding == Sharding::fsdp1 || sharding == Sharding::fsdp2 || sharding == Sharding::zero3;
    if (gathers) recipe_.evaluate(stage_);
  }

  void prepare(std::int64_t length) {
    stage_.facts().length = length;
    recipe_.prepare(stage_);
  }

  /// Where one ends within a step, the next one meets gradients.
  bool has_rollouts_within() const {
    return recipe_.prepare != nullptr &&
           trained_on_rollout(stage_.plan()) % stage_.plan().batch.gradient_accumulation_steps.value != 0;
  }

  /// Each step has one, as good as those that take another's, but where the order of passes decides what is gathered
  /// ahead. By the third step after one all is as in the second.
  std::int64_t steps_a_rollout() const {
    constexpr std::int64_t most = 3;
    if (recipe_.prepare == nullptr || stage_.plan().mesh.sharding.value != Sharding::zero3) return 1;
    const std::int64_t steps =
        trained_on_rollout(stage_.plan()) / stage_.plan().batch.gradient_accumulation_steps.value;
    return std::clamp<std::int64_t>(steps, 1, most);
  }

  bool evaluates() const { return stage_.plan().evaluation.evaluates.value; }

  // Steps before the first evaluation may need more than those after it, whose pool evaluation has split.
  std::int64_t evaluated_after() const {
    const auto& lengths = stage_.plan().batch.lengths.value;
    const std::int64_t limit = stage_.plan().batch.max_steps.value;
    const std::int64_t steps = lengths.empty() ? (limit > 0 ? limit : fewest_rounds) : std::ssize(lengths);
    return std::min<std::int64_t>(fewest_rounds, steps);
  }

  Stage& stage_;
  const Recipe& recipe_;
  const Architecture& architecture_;
  Optimizer& optimizer_;
  MicroBatches micro_batches_;
  Pipeline* pipeline_;
  Parameters of_stages_;
  std::vector<Tensor> clipped_{};
};

const Model* last_of(const std::vector<Cast>& models) { return models.empty() ? nullptr : &models.back().model; }

int segments_to(const Model* before) {
  return before == nullptr ? 0 : before->first_segment + static_cast<int>(before->body.size());
}

/// The stages that a rank of a pipeline has.
Diagnostics load_stages(Stage& stage, std::span<const Architecture> parts, const Repetition& repetition) {
  stage.begin(Phase::load);
  stage.models().reserve(parts.size());
  for (const Architecture& part : parts) {
    const Model* before = last_of(stage.models());
    Result<Model> model = build(stage.torch(), stage.facts(), part, repetition, policy_of_shard(stage.plan(), 0),
                                before, segments_to(before));
    if (!model) return model.errors();
    stage.models().push_back({Role::policy, std::move(*model)});
  }
  return {};
}

/// Loads what the recipe plays with.
Diagnostics load(Stage& stage, const Recipe& recipe, const Architecture& architecture, const Repetition& repetition,
                 std::int64_t shard) {
  stage.begin(Phase::load);
  if (stage.torch().unsloth != nullptr) stage.torch().unsloth->load();
  for (const Role role : recipe.roles(stage.plan())) {
    const bool other = role == Role::teacher;
    const Model* before = last_of(stage.models());
    Result<Model> model = build(
        stage.torch(), Stage::facts_of(role, stage.facts()), other ? *architecture.teacher : architecture, repetition,
        role == Role::policy ? policy_of_shard(stage.plan(), shard) : reference_policy(stage.plan(), shard), before,
        other ? segments_to(before) : 0, other ? "teacher" : "");
    if (!model) return model.errors();
    const bool by_llamafactory = stage.plan().framework.starts_with("llamafactory ");
    const bool all = stage.plan().framework.starts_with("llamafactory_v1 ");
    model->checkpoints_trained = by_llamafactory || (stage.plan().recipe.trained_layers.value != 0 && !all);
    stage.models().push_back({role, std::move(*model)});
  }
  return {};
}

/// How many turns of its loop the storage's stands for.
std::int64_t turns_of(const Loops& loops, const Storage& storage) {
  if (!loops.is_turn(storage.layer)) return 1;
  const auto number = (storage.layer - loops.all().front().first) / Loops::played;
  const Loops::Loop& loop = loops.all()[static_cast<std::size_t>(number)];
  return storage.layer - loop.first == Loops::played / 2 ? loop.turns - Loops::played + 1 : 1;
}

/// Whether every sum over the run stays far from the end of 64 bits: all that is ever allocated, in every block.
bool is_countable(const Torch& torch, const Architecture& architecture) {
  constexpr std::int64_t limit = std::int64_t{1} << 61;
  std::int64_t all = 0;
  for (const Storage& s : torch.recorder.storages) {
    if (s.bytes < 0) return false;  // A size that ran out of 64 bits on its way.
    all = saturating_add(all, saturating_mul(s.bytes, turns_of(torch.loops, s)));
  }
  return saturating_mul(all, architecture.layers) < limit;
}

Diagnostic unreached_parameter(const TrainingPlan& plan, const Parameter& parameter) {
  Diagnostic out = error_of(
      "estimate/bad-mesh", "DDP stops in the second step: no gradient reaches " + parameter.name + ", which is trained",
      plan.mesh.sharding.origin);
  out.hint = "DDP's find_unused_parameters, or train only what the rows reach";
  return out;
}

// Pools and lists as large as a run needs them; asking the system for them anew costs as much as playing.
thread_local std::unique_ptr<Run> left_run;

}  // namespace

void LeaveRun::operator()(Run* run) const {
  run->optimizer.reset();
  run->unsloth.reset();
  run->torch.unsloth = nullptr;
  run->models.clear();
  run->torch.clear();
  left_run.reset(run);
}

Result<RunPtr> play_run(const TrainingPlan& plan, const Facts& facts, std::span<const Architecture> parts,
                        const Repetition& repetition, std::int64_t shard, bool folds_loops) {
  const Architecture& architecture = parts.front();
  RunPtr run(left_run ? left_run.release() : new Run);
  if (folds_loops) run->torch.loops.fold_after(repetition.built());
  run->torch.loss_parallel = facts.tensor_parallel.loss;
  const ContextParallel& context = facts.context_parallel;
  run->torch.ring = {context.ranks, shard % context.ranks, context.hands_on};
  run->torch.older_gpu = plan.kernels.older_gpu.value;
  Stage stage(run->torch, run->models, plan, facts);
  if (facts.unsloth || runs_compiled(plan, architecture)) {
    const bool offloads = plan.checkpointing.on.value && plan.checkpointing.offload.value == Offload::buffered;
    run->unsloth = std::make_unique<UnslothBuffers>(run->torch, facts.weights, offloads, !facts.unsloth);
    run->torch.unsloth = run->unsloth.get();
  }
  const Recipe& recipe = *find_recipe(name_of(plan.recipe.kind.value));
  const bool pipelined = is_pipelined(plan.mesh);
  Diagnostics errors =
      pipelined ? load_stages(stage, parts, repetition) : load(stage, recipe, architecture, repetition, shard);
  if (!errors.empty()) return errors;
  const bool by_trainer = plan.framework.find("transformers ") != std::string::npos;
  run->optimizer = make_optimizer(plan.optimizer.name.value, plan.optimizer.fp32_embedding_state.value, by_trainer);
  if (recipe.before != nullptr) recipe.before(stage);
  std::optional<InBackward> in_backward;
  if (plan.optimizer.in_backward.value) {
    run->torch.gradient_hook = &in_backward.emplace(plan, stage.model(Role::policy).parameters);
  }
  std::optional<Pipeline> pipeline;
  if (pipelined) pipeline.emplace(stage, pipeline_shape(plan.mesh), shard, facts.width);
  Steps(stage, recipe, architecture, *run->optimizer, pipeline ? &*pipeline : nullptr).play();
  pipeline.reset();
  if (const Parameter* p = run->policy().policy->unreached()) return unreached_parameter(plan, *p);
  if (!is_countable(run->torch, architecture)) return too_large_batch(plan);
  return run;
}

}  // namespace oomplan::estimator
