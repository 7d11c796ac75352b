#include "tensor_parallel_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "oomplan/core/bytes.hpp"
#include "parallel_checks.hpp"
#include "recipe_titles.hpp"

namespace oomplan::estimator {
namespace {

/// More than any model has heads, so that what is padded for them stays small.
constexpr std::int64_t most_ranks = 65'536;

constexpr std::array<std::string_view, 3> measured_optimizers{"adamw_foreach", "adamw_for_each", "adamw_fused"};

/// Weights of the model that are plain tensors beside DTensors: norms, unless they too are of parts of rows, and norms
/// of heads.
bool has_plain_weights(const MeshFacts& mesh, const Architecture& architecture) {
  const auto norms_heads = [](const OpSpec& spec) { return spec.find("qk_norm") != nullptr; };
  return !mesh.sequence_parallel.value || any_op(architecture, norms_heads);
}

class Checks : ParallelChecks {
 public:
  Checks(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors)
      : ParallelChecks("tensor parallelism", plan, architecture, errors) {}

  void check() {
    if (!has_equal_groups()) return;
    check_model();
    check_sharding();
    check_training();
    check_layers();
    check_optimizer();
  }

 private:
  bool has_equal_groups() {
    const std::int64_t ranks = mesh_.tensor_parallel.value;
    if (ranks > most_ranks) {
      bad(fmt::format("tensor_parallel: no {} GPUs share a matrix", ranks), mesh_.tensor_parallel.origin);
      return false;
    }
    return is_multiple_of(ranks, "tensor_parallel", "no group of", mesh_.tensor_parallel.origin);
  }

  void check_model() {
    const Setting<std::int64_t>& ranks = mesh_.tensor_parallel;
    const std::int64_t length = plan_.batch.sequence_length.value;
    if (mesh_.sequence_parallel.value && length % ranks.value != 0)
      cannot(fmt::format("a row of {} tokens, which {} ranks do not share equally,", length, ranks.value),
             plan_.batch.sequence_length.origin);
    if (!architecture_.tensor_parallel) cannot(architecture_.model_type, ranks.origin);
  }

  void check_sharding() {
    const Setting<Sharding>& sharding = mesh_.sharding;
    const std::int64_t ranks = mesh_.tensor_parallel.value;
    const std::int64_t stages = std::max<std::int64_t>(mesh_.pipeline_parallel.value, 1);
    if (sharding.value == Sharding::none && mesh_.world_size.value == saturating_mul(ranks, stages)) return;
    if (sharding.value != Sharding::fsdp2) {
      return cannot(sharding.value == Sharding::none
                        ? "a model that is whole on each group of ranks (sharding none)"
                        : std::string(sharding_names[static_cast<std::size_t>(sharding.value)]),
                    sharding.origin);
    }
    const bool titan = mesh_.fsdp_units.value == ShardUnits::torchtitan;
    if (mesh_.fsdp_units.value != ShardUnits::blocks && !titan) cannot("other units", mesh_.fsdp_units.origin);
    if (mesh_.fsdp_replicas.value > 1 && !titan) cannot("HSDP", mesh_.fsdp_replicas.origin);
    // Whether the head is the embedding still, once both are DTensors, the frameworks decide.
    if (architecture_.tied_embeddings) cannot("FSDP2 of a head that is the embedding", sharding.origin);
    if (plan_.precision.autocast.value != Autocast::none) cannot("autocast", plan_.precision.autocast.origin);
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
    measured(plan_.evaluation.evaluates, "evaluation");
    if (plan_.adapter.kind.value != Adapter::none) cannot("an adapter", plan_.adapter.kind.origin);
    if (plan_.quantization.kind.value != Quantization::none)
      cannot("a quantized model", plan_.quantization.kind.origin);
    if (plan_.quantization.fake_group.value > 0)
      cannot("quantization-aware training", plan_.quantization.fake_group.origin);
    if (plan_.model.head.value != HeadKind::language_model) cannot("a classifier", plan_.model.head.origin);
  }

  void check_layers() {
    const CheckpointingFacts& checkpointing = plan_.checkpointing;
    if (checkpointing.on.value) measured(checkpointing.reentrant, "reentrant checkpoints");
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
    if (std::ranges::count(measured_optimizers, optimizer.name.value) == 0)
      cannot("the optimizer " + optimizer.name.value, optimizer.name.origin);
    measured(optimizer.in_backward, "an optimizer that steps in backward");
    if (optimizer.clip_gradients.value && has_plain_weights(mesh_, architecture_))
      bad("torch's clip_grad_norm_ stops at gradients of which some are DTensors and some are not: norms are not, but "
          "for those of a block with sequence_parallel",
          optimizer.clip_gradients.origin, "--set plan.sequence_parallel=true, or --set plan.clip_gradients=false");
  }
};

}  // namespace

void check_tensor_parallel(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const MeshFacts& mesh = plan.mesh;
  if (mesh.tensor_parallel.value > 1) return Checks(plan, architecture, errors).check();
  for (const auto& [fact, name] :
       {std::pair(&mesh.sequence_parallel, "sequence_parallel"), std::pair(&mesh.loss_parallel, "loss_parallel")}) {
    if (!fact->value) continue;
    errors.push_back(
        error_of("estimate/bad-mesh", fmt::format("{} needs tensor_parallel above 1", name), fact->origin));
  }
}

}  // namespace oomplan::estimator
