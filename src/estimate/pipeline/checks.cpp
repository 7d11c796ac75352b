#include "pipeline/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "../parallel_checks.hpp"
#include "../recipe_titles.hpp"
#include "oomplan/core/bytes.hpp"
#include "pipeline/order.hpp"

namespace oomplan::estimator {
namespace {

/// Past any model's layers.
constexpr std::int64_t most_pipeline_ranks = 4'096;
/// Of a step, times the stages or the layers, whichever are more: past it playing all ranks takes seconds.
constexpr std::int64_t most_passes = 16'384;

constexpr std::array<std::string_view, 3> pipelined_optimizers{"adamw_foreach", "adamw_for_each", "adamw_fused"};
/// Whose layers were run with their backward pass in parts, which follows the order in which a module makes its own.
constexpr std::array<std::string_view, 4> parted_models{"llama", "mistral", "qwen2", "qwen3"};
/// Of these each stage has what it needs, but for the embedding.
constexpr std::array<std::string_view, 5> stem_ops{"embedding", "position_ids", "causal_mask", "rotary_embedding",
                                                   "rope_cache"};

class PipelineChecks : ParallelChecks {
 public:
  PipelineChecks(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors)
      : ParallelChecks("pipeline parallelism", plan, architecture, errors) {}

  void check() {
    if (!has_sizes()) return;
    check_schedule();
    check_layers_of_stages();
    check_model();
    check_sharding();
    check_training();
    check_layers();
    check_optimizer();
  }

 private:
  bool has_sizes() {
    const std::int64_t ranks = mesh_.pipeline_parallel.value;
    if (ranks > most_pipeline_ranks || mesh_.pipeline_stages.value > most_pipeline_ranks) {
      bad(fmt::format("pipeline_parallel: no model has layers for {} GPUs of {} stages", ranks,
                      mesh_.pipeline_stages.value),
          mesh_.pipeline_parallel.origin);
      return false;
    }
    const std::int64_t micro_batches = mesh_.pipeline_micro_batches.value;
    const std::int64_t parts = std::max(shape_.stages(), architecture_.layers);
    if (saturating_mul(micro_batches, parts) > most_passes) {
      cannot(fmt::format("a step of {} micro-batches through {} layers in {} stages", micro_batches,
                         architecture_.layers, shape_.stages()),
             mesh_.pipeline_micro_batches.origin);
      return false;
    }
    return is_multiple_of(ranks, "pipeline_parallel", "no pipeline of", mesh_.pipeline_parallel.origin);
  }

  /// The exceptions of the schedules' constructors.
  void check_schedule() {
    const PipelineSchedule schedule = shape_.schedule;
    const std::string_view name = pipeline_schedule_names[static_cast<std::size_t>(schedule)];
    const Origin& at = mesh_.pipeline_schedule.origin;
    if (!has_many_stages(schedule) && shape_.stages_each != 1)
      bad(fmt::format("pipeline_stages: {} takes one stage a GPU, not {}", name, shape_.stages_each),
          mesh_.pipeline_stages.origin);
    if (schedule == PipelineSchedule::zbv && shape_.stages_each != 2)
      bad(fmt::format("pipeline_stages: {} takes two stages a GPU, not {}", name, shape_.stages_each), at);
    const std::int64_t count = shape_.micro_batches;
    if (schedule == PipelineSchedule::one_f_one_b && count < shape_.stages())
      bad(fmt::format("pipeline_micro_batches: {} takes at least as many as there are stages ({}), not {}", name,
                      shape_.stages(), count),
          mesh_.pipeline_micro_batches.origin);
    const std::int64_t rounds = std::max<std::int64_t>(1, count / shape_.ranks);
    const bool by_rounds = schedule == PipelineSchedule::interleaved || schedule == PipelineSchedule::zero_bubble;
    if (by_rounds && count % rounds != 0)
      bad(fmt::format("pipeline_micro_batches: {} takes a multiple of its {} rounds, not {}", name, rounds, count),
          mesh_.pipeline_micro_batches.origin);
  }

  void check_layers_of_stages() {
    const auto& layers = mesh_.pipeline_layers;
    const std::int64_t stages = shape_.stages();
    if (layers.value.empty()) {
      if (architecture_.layers < stages)
        bad(fmt::format("pipeline_parallel: {} has {} layers for {} stages", architecture_.source, architecture_.layers,
                        stages),
            mesh_.pipeline_parallel.origin);
      return;
    }
    std::int64_t all = 0;
    bool empty = false;
    for (const std::string& count : layers.value) {
      const std::int64_t here = count.size() > 6 ? 1'000'000 : std::stoll(count);
      all += here;
      empty = empty || here == 0;
    }
    if (std::ssize(layers.value) != stages || all != architecture_.layers)
      return bad(fmt::format("pipeline_layers: {} numbers that come to {}, for {} stages of {} layers",
                             layers.value.size(), all, stages, architecture_.layers),
                 layers.origin);
    if (empty) cannot("a stage without layers", layers.origin);
  }

  void check_model() {
    const Origin& at = mesh_.pipeline_parallel.origin;
    const auto unlike = [&] { cannot(architecture_.model_type, at); };
    if (architecture_.task != Task::causal_lm || architecture_.body.size() != 1 || architecture_.teacher != nullptr)
      return unlike();
    if (parts_backward(shape_.schedule) && std::ranges::count(parted_models, architecture_.model_type) == 0)
      return cannot("a parted backward of " + architecture_.model_type, mesh_.pipeline_schedule.origin);
    const Segment& body = architecture_.body.front();
    const auto some = [](const std::vector<OpSpec>& specs) { return !specs.empty(); };
    const bool between = std::ranges::any_of(body.before, some) || std::ranges::any_of(body.after, some);
    if (between || body.groups != 0 || body.tower || body.decodes) return unlike();
    const std::int64_t length = plan_.batch.sequence_length.value;
    for (const OpSpec& spec : body.stem) {
      if (std::ranges::count(stem_ops, spec.op) == 0 || spec.find("scale") != nullptr) return unlike();
      const Attribute* window = spec.op == "causal_mask" ? spec.find("window") : nullptr;
      const auto* tokens = window == nullptr ? nullptr : std::get_if<std::int64_t>(window);
      if (tokens != nullptr && *tokens > 0 && length >= *tokens)
        return cannot("a mask of windows", plan_.batch.sequence_length.origin);
      if (spec.find("always") != nullptr || spec.find("unskipped") != nullptr) return unlike();
    }
  }

  void check_sharding() {
    const Setting<Sharding>& sharding = mesh_.sharding;
    const std::string name(sharding_names[static_cast<std::size_t>(sharding.value)]);
    const std::int64_t shared = std::max<std::int64_t>(mesh_.tensor_parallel.value, 1);
    if (shared > 1) check_tensor_parallel();
    if (sharding.value == Sharding::none) {
      if (mesh_.world_size.value != saturating_mul(shape_.ranks, shared))
        cannot("a world of more ranks that shares nothing else", sharding.origin);
      return;
    }
    if (sharding.value != Sharding::ddp && sharding.value != Sharding::fsdp2) return cannot(name, sharding.origin);
    // torch.autograd.grad, which makes the gradients of weights, runs no hook of DDP's.
    if (parts_backward(shape_.schedule)) cannot(name + " with a parted backward", sharding.origin);
    if (sharding.value == Sharding::ddp) {
      if (shape_.stages_each > 1) cannot("DDP of several stages a GPU", mesh_.pipeline_stages.origin);
      // Its micro-batches come back in another order than they went, and DDP reduces in the last to come.
      if (shape_.schedule == PipelineSchedule::looped_bfs) cannot("DDP by looped BFS", mesh_.pipeline_schedule.origin);
      measured(mesh_.ddp_find_unused, "find_unused_parameters");
      return;
    }
    if (mesh_.fsdp_units.value != ShardUnits::blocks) cannot("other units", mesh_.fsdp_units.origin);
    if (!mesh_.fsdp_modules.value.empty()) cannot("a module that is named as a unit", mesh_.fsdp_modules.origin);
    if (mesh_.fsdp_replicas.value > 1) cannot("HSDP", mesh_.fsdp_replicas.origin);
    if (mesh_.fsdp_reshard.value == Reshard::smaller) cannot("shards over fewer ranks", mesh_.fsdp_reshard.origin);
    measured(mesh_.fsdp_offload, "offloading to the host");
    measured(mesh_.fsdp_loads_whole, "a model that is whole before it is sharded");
  }

  /// Which were run with tensor parallelism beside a pipeline.
  void check_tensor_parallel() {
    constexpr std::array run{PipelineSchedule::gpipe, PipelineSchedule::one_f_one_b, PipelineSchedule::interleaved};
    if (std::ranges::count(run, shape_.schedule) == 0)
      cannot("tensor parallelism by this schedule", mesh_.pipeline_schedule.origin);
    if (architecture_.tied_embeddings)
      cannot("tensor parallelism of a head that is the embedding", mesh_.tensor_parallel.origin);
  }

  void check_training() {
    const RecipeFacts& recipe = plan_.recipe;
    if (recipe.kind.value != RecipeKind::supervised) cannot(title_of(recipe.kind.value), recipe.kind.origin);
    const Loss loss = recipe.loss.value;
    if (loss != Loss::full_logits && loss != Loss::summed_logits)
      cannot(fmt::format("the loss {}", loss_names[static_cast<std::size_t>(loss)]), recipe.loss.origin);
    if (!recipe.frozen.value.empty()) cannot("frozen parameters", recipe.frozen.origin);
    if (!recipe.trained.value.empty()) cannot("parameters that are trained by name", recipe.trained.origin);
    if (recipe.trained_layers.value != 0) cannot("freeze tuning", recipe.trained_layers.origin);
    measured(recipe.label_smoothing, "label smoothing");
    measured(recipe.neftune, "NEFTune");
    measured(recipe.router_loss, "a loss of the router");
    measured(plan_.evaluation.evaluates, "evaluation");
    const auto& steps = plan_.batch.gradient_accumulation_steps;
    if (steps.value > 1) cannot("gradient accumulation over steps of the schedule", steps.origin);
    if (!plan_.batch.lengths.value.empty()) cannot("rows of several lengths", plan_.batch.lengths.origin);
    const AdapterFacts& adapter = plan_.adapter;
    if (adapter.kind.value != Adapter::none) {
      measured(adapter.dora, "DoRA");
      if (!adapter.layers.value.empty()) cannot("LoRA on some layers", adapter.layers.origin);
      if (!adapter.modules_to_save.value.empty()) cannot("modules_to_save", adapter.modules_to_save.origin);
    }
    if (plan_.quantization.kind.value != Quantization::none)
      cannot("a quantized model", plan_.quantization.kind.origin);
    if (plan_.quantization.fake_group.value > 0)
      cannot("quantization-aware training", plan_.quantization.fake_group.origin);
    if (plan_.model.head.value != HeadKind::language_model) cannot("a classifier", plan_.model.head.origin);
    if (plan_.model.vocabulary.value > 0) cannot("an enlarged vocabulary", plan_.model.vocabulary.origin);
    const PrecisionFacts& precision = plan_.precision;
    if (precision.autocast.value != Autocast::none) cannot("autocast", precision.autocast.origin);
    measured(precision.fp32_norms, "fp32 norms beside other weights");
    measured(precision.trained_to_fp32, "weights that go to fp32 once they are loaded");
    measured(precision.outputs_to_fp32, "an output that is raised to fp32");
  }

  void check_layers() {
    const CheckpointingFacts& checkpointing = plan_.checkpointing;
    if (checkpointing.on.value) {
      measured(checkpointing.reentrant, "reentrant checkpoints");
      if (checkpointing.every.value > 1) cannot("checkpoints of some layers", checkpointing.every.origin);
      if (checkpointing.keeps.value != CheckpointKeeps::inputs)
        cannot("selective checkpoints", checkpointing.keeps.origin);
      // Each group of weights would run its layer again.
      if (parts_backward(shape_.schedule)) cannot("checkpoints with a parted backward", checkpointing.on.origin);
    }
    if (checkpointing.offload.value != Offload::none) cannot("activation offloading", checkpointing.offload.origin);
    const KernelFacts& kernels = plan_.kernels;
    if (kernels.attention.value != Attention::sdpa) cannot("attention other than sdpa", kernels.attention.origin);
    if (has_liger_layers(kernels)) cannot("Liger's layers", kernels.liger_rms_norm.origin);
    measured(kernels.fused_norm_rope, "the fused kernel of norms and turning");
    if (kernels.unsloth.value != UnslothLayers::none) cannot("Unsloth's layers", kernels.unsloth.origin);
    measured(plan_.batch.padding_mask, "a padding mask");
  }

  void check_optimizer() {
    const OptimizerFacts& optimizer = plan_.optimizer;
    if (std::ranges::count(pipelined_optimizers, optimizer.name.value) == 0)
      cannot("the optimizer " + optimizer.name.value, optimizer.name.origin);
    measured(optimizer.in_backward, "an optimizer that steps in backward");
  }

  const PipelineShape shape_ = pipeline_shape(mesh_);
};

}  // namespace

void check_pipeline(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const MeshFacts& mesh = plan.mesh;
  if (is_pipelined(mesh)) return PipelineChecks(plan, architecture, errors).check();
  const auto alone = [&](const char* name, const Origin& origin) {
    errors.push_back(error_of("estimate/bad-mesh", fmt::format("{} needs pipeline_parallel above 1", name), origin));
  };
  if (mesh.pipeline_stages.value > 1) alone("pipeline_stages", mesh.pipeline_stages.origin);
  if (mesh.pipeline_micro_batches.value > 1) alone("pipeline_micro_batches", mesh.pipeline_micro_batches.origin);
  if (!mesh.pipeline_layers.value.empty()) alone("pipeline_layers", mesh.pipeline_layers.origin);
}

}  // namespace oomplan::estimator
