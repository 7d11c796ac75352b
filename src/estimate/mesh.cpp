#include "mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace oomplan::estimator {
namespace {

Diagnostic error(std::string code, std::string message, const Origin& origin) {
  return {Severity::error, std::move(code), std::move(message), origin.where, {}, {}};
}

Diagnostic unmodelled(const std::string& what, const Origin& origin) {
  return error("estimate/unmodelled", what + " under FSDP2 is not modelled yet", origin);
}

// Past it no world is, and products of a shard's padding stay small.
constexpr std::int64_t largest_world = 1'000'000;

void check_sizes(const MeshFacts& mesh, Diagnostics& errors) {
  const std::int64_t world = mesh.world_size.value;
  const auto bad = [&](std::string message, const Origin& origin) {
    errors.push_back(error("estimate/bad-mesh", std::move(message), origin));
  };
  if (world > largest_world) bad(fmt::format("world_size: no machines have {} GPUs", world), mesh.world_size.origin);
  const std::int64_t replicas = mesh.fsdp_replicas.value;
  if (world % replicas != 0) {
    return bad(fmt::format("fsdp_replicas: {} ranks do not make {} equal groups", world, replicas),
               mesh.fsdp_replicas.origin);
  }
  if (mesh.fsdp_reshard.value != Reshard::smaller) return;
  const std::int64_t ranks = mesh.fsdp_reshard_ranks.value;
  if (ranks < 2 || (world / replicas) % ranks != 0) {
    bad(fmt::format("fsdp_reshard_ranks: {} is no part of {} ranks", ranks, world / replicas),
        mesh.fsdp_reshard_ranks.origin);
  }
}

/// Elementwise on a shard, as torch's own foreach functions take DTensors.
constexpr std::array<std::string_view, 5> sharded_optimizers{"adamw_foreach", "adamw_for_each", "adamw_fused", "sgd",
                                                             "sgd_momentum"};

void check_fsdp2(const TrainingPlan& plan, Diagnostics& errors) {
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what, origin));
  };
  if (std::ranges::find(sharded_optimizers, plan.optimizer.name.value) == sharded_optimizers.end()) {
    cannot("the optimizer " + plan.optimizer.name.value, plan.optimizer.name.origin);
  }
  if (plan.recipe.kind.value != RecipeKind::supervised) cannot("preference training", plan.recipe.kind.origin);
  if (plan.quantization.kind.value != Quantization::none) cannot("quantization", plan.quantization.kind.origin);
  if (plan.adapter.dora.value) cannot("DoRA", plan.adapter.dora.origin);
  if (!plan.adapter.modules_to_save.value.empty()) cannot("modules_to_save", plan.adapter.modules_to_save.origin);
  if (plan.recipe.loss.value != Loss::full_logits) cannot("a chunked loss", plan.recipe.loss.origin);
  if (plan.recipe.label_smoothing.value) cannot("label smoothing", plan.recipe.label_smoothing.origin);
  if (plan.checkpointing.on.value && plan.checkpointing.reentrant.value) {
    cannot("reentrant checkpointing", plan.checkpointing.reentrant.origin);
  }
  if (plan.precision.trained_to_fp32.value) {
    cannot("weights that go to fp32 once they are loaded", plan.precision.trained_to_fp32.origin);
  }
  if (plan.precision.fp32_norms.value) cannot("fp32 norms beside other weights", plan.precision.fp32_norms.origin);
  if (plan.precision.autocast.value != Autocast::none) cannot("autocast", plan.precision.autocast.origin);
  const KernelFacts& kernels = plan.kernels;
  for (const Setting<bool>* kernel : {&kernels.lora_qkv, &kernels.lora_o, &kernels.lora_mlp, &kernels.liger_rms_norm,
                                      &kernels.liger_rope, &kernels.liger_glu}) {
    if (kernel->value) cannot("a fused kernel", kernel->origin);
  }
}

// DDP's wrapper is called once a step here; KTO's trainer calls it twice, and of the others no run was measured.
void check_ddp(const TrainingPlan& plan, Diagnostics& errors) {
  const RecipeKind kind = plan.recipe.kind.value;
  if (kind == RecipeKind::supervised || kind == RecipeKind::dpo) return;
  errors.push_back(error("estimate/unmodelled", std::string(name_of(kind)) + " on several ranks is not modelled yet",
                         plan.recipe.kind.origin));
}

}  // namespace

void check_mesh(const TrainingPlan& plan, Diagnostics& errors) {
  if (plan.mesh.sharding.value == Sharding::none) return;
  check_sizes(plan.mesh, errors);
  if (plan.mesh.sharding.value == Sharding::fsdp2) check_fsdp2(plan, errors);
  if (plan.mesh.sharding.value == Sharding::ddp) check_ddp(plan, errors);
}

}  // namespace oomplan::estimator
