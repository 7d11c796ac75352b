#include "zero_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "facts.hpp"
#include "mesh_errors.hpp"
#include "oomplan/catalog/catalog.hpp"
#include "play.hpp"
#include "recipe_titles.hpp"

namespace oomplan::estimator {
namespace {

/// accelerate puts DeepSpeed's CPUAdam, CPULion or CPUAdagrad in the place of an optimizer whose state is offloaded
/// (utils/deepspeed.py: map_pytorch_optim_to_deepspeed).
bool is_replaced(const MeshFacts& mesh) {
  return mesh.zero_offload_optimizer.value && mesh.zero_replaces_optimizer.value;
}

/// A partition of ZeRO's is one flat tensor: of optimizers whose rules ask for no part and no name, it is one parameter
/// more. What bitsandbytes' kernels do on a host was not measured.
bool takes_partitions(const std::string& name, const MeshFacts& mesh) {
  const OptimizerFile* file = find_optimizer(name);
  // Adagrad makes its state with the optimizer, before there are partitions.
  if (file == nullptr || name.starts_with("torchao") || name == "adagrad") return false;
  const bool on_host = mesh.zero_offload_optimizer.value && !is_replaced(mesh);
  if (on_host && file->source.starts_with("bitsandbytes")) return false;
  return std::ranges::all_of(file->groups, [&](const OptimizerGroup& group) {
    return group.parts.empty() && group.except.empty() && (group.code.empty() || name == "adafactor");
  });
}

/// Why a run stops where DeepSpeed's optimizer takes over this one's groups; empty where it does not. They keep their
/// own values, of which CPUAdam reads two betas and one eps (deepspeed 0.19.8: ops/adam/cpu_adam.py).
std::string refused_on_host(const std::string& name) {
  constexpr std::string_view wanted = "; \"zero_force_ds_cpu_optimizer\": false keeps the optimizer that is named";
  if (name == "adafactor")
    return fmt::format("DeepSpeed's CPUAdam stops at the two eps of adafactor, which it takes over{}", wanted);
  if (name.find("ademamix") != std::string::npos)
    return fmt::format("DeepSpeed's CPUAdam stops at the three betas of {}, which it takes over{}", name, wanted);
  // runtime/engine.py: _configure_optimizer asks for CPUAdam or CPULion.
  if (name == "adagrad")
    return fmt::format("DeepSpeed refuses CPUAdagrad, which accelerate puts in the place of adagrad{}", wanted);
  return {};
}

void check_partitions(const TrainingPlan& plan, Diagnostics& errors) {
  const Setting<std::string>& name = plan.optimizer.name;
  const std::string refused = is_replaced(plan.mesh) ? refused_on_host(name.value) : std::string();
  if (!refused.empty()) {
    errors.push_back(mesh_error("estimate/bad-mesh", refused, name.origin));
  } else if (!takes_partitions(name.value, plan.mesh)) {
    errors.push_back(unmodelled_under("the optimizer " + name.value, plan.mesh, name.origin));
  }
}

/// Stage 3 was measured with models like Llama.
void check_zero3(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled_under(what + " at stage 3", plan.mesh, origin));
  };
  const MeshFacts& mesh = plan.mesh;
  if (mesh.world_size.value == 1) {
    cannot("a world of one", mesh.world_size.origin);
    errors.back().hint = "--set plan.world_size=8 or --launch says how many GPUs there are";
  }
  if (!has_leaves_alone(architecture)) cannot(architecture.model_type, mesh.sharding.origin);
  if (plan.quantization.kind.value != Quantization::none) cannot("a quantized model", plan.quantization.kind.origin);
  if (plan.adapter.dora.value) cannot("DoRA", plan.adapter.dora.origin);
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  if (adapts && plan.evaluation.evaluates.value) {
    cannot("evaluation of an adapter's model", plan.evaluation.evaluates.origin);
  }
  const std::string kind = title_of(plan.recipe.kind.value);
  constexpr std::array preferences{RecipeKind::dpo, RecipeKind::paired_logits, RecipeKind::unpaired_logits,
                                   RecipeKind::reward_values};
  const bool prefers = std::ranges::count(preferences, plan.recipe.kind.value) > 0;
  const bool rollouts = plan.recipe.kind.value == RecipeKind::grpo;
  const bool offloads = mesh.zero_offload_params.value || mesh.zero_offload_optimizer.value;
  if ((prefers || rollouts) && plan.evaluation.evaluates.value)
    cannot("evaluation of " + kind, plan.evaluation.evaluates.origin);
  if (prefers && offloads) cannot(kind + " that is offloaded", mesh.zero_offload_optimizer.origin);
  if ((prefers || rollouts) && mesh.zero_dtype.value == MixedDType::fp16)
    cannot("fp16 of " + kind, mesh.zero_dtype.origin);
  if (prefers && (plan.kernels.liger_rms_norm.value || plan.kernels.liger_rope.value || plan.kernels.liger_glu.value))
    cannot("Liger's kernels in " + kind, plan.kernels.liger_rms_norm.origin);
  if (prefers && adapts && !plan.checkpointing.on.value)
    cannot(kind + " of adapters without checkpoints", plan.checkpointing.on.origin);
  if (prefers && plan.recipe.reference.value == Reference::precomputed)
    cannot("a reference that is asked before training", plan.recipe.reference.origin);
  const Loss loss = plan.recipe.loss.value;
  const bool others =
      plan.recipe.kind.value != RecipeKind::dpo && (loss == Loss::full_logits || loss == Loss::liger_fused_linear);
  if (loss != Loss::chunked_logprob && !others) {
    cannot(fmt::format("the loss {}", loss_names[static_cast<std::size_t>(loss)]), plan.recipe.loss.origin);
  }
  const KernelFacts& kernels = plan.kernels;
  const std::array<std::pair<const Setting<bool>*, std::string_view>, 3> fused{
      {{&kernels.lora_qkv, "the LoRA kernel for q, k and v"},
       {&kernels.lora_o, "the LoRA kernel for o"},
       {&kernels.lora_mlp, "the LoRA kernel of the MLP"}}};
  for (const auto& [kernel, name] : fused) {
    if (kernel->value) cannot(std::string(name), kernel->origin);
  }
}

}  // namespace

/// What its truth was measured with: TRL's trainers and plain steps.
void check_zero(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled_under(what, plan.mesh, origin));
  };
  const MeshFacts& mesh = plan.mesh;
  if (mesh.sharding.value == Sharding::zero3) check_zero3(plan, architecture, errors);
  if (mesh.zero_reduce_bucket.value == by_hidden_size || mesh.zero_prefetch.value == by_hidden_size ||
      mesh.zero_persistence.value == by_hidden_size) {
    cannot("auto, as the config of " + architecture.model_type + " names no hidden size,",
           mesh.zero_reduce_bucket.origin);
  }
  if (mesh.zero_dtype.value == MixedDType::as_held && loaded_dtype(plan, architecture) != DType::fp32) {
    cannot("a model in 16 bits while neither bf16 nor fp16 is on", mesh.zero_dtype.origin);
  }
  // Where it is parted depends on the order of a layer's parameters, which was held against layers like Llama's alone.
  if (mesh.zero_round_robin.value && !has_leaves_alone(architecture))
    cannot("round-robin gradients of " + architecture.model_type, mesh.zero_round_robin.origin);
  if (plan.precision.autocast.value != Autocast::none) cannot("autocast", plan.precision.autocast.origin);
  check_partitions(plan, errors);
  const QuantizationFacts& q = plan.quantization;
  if (q.kind.value == Quantization::int8) cannot("LLM.int8()", q.kind.origin);
  const bool packed = q.kind.value != Quantization::none && q.storage.value != QuantStorage::uint8;
  const bool as_cast = q.storage.value == QuantStorage::bf16 && mesh.zero_dtype.value == MixedDType::bf16;
  if (packed && !as_cast) cannot("4-bit storage of a floating type", q.storage.origin);
  if (!plan.adapter.modules_to_save.value.empty()) cannot("modules_to_save", plan.adapter.modules_to_save.origin);
  const Setting<RecipeKind>& kind = plan.recipe.kind;
  constexpr std::array measured{
      RecipeKind::supervised,      RecipeKind::dpo,           RecipeKind::grpo, RecipeKind::paired_logits,
      RecipeKind::unpaired_logits, RecipeKind::reward_values, RecipeKind::kto,  RecipeKind::reward,
      RecipeKind::reference_free};
  const bool whole = mesh.sharding.value != Sharding::zero3;
  const auto of_stage = std::span(measured).first(whole ? measured.size() : 6);
  if (std::ranges::count(of_stage, kind.value) == 0) cannot(title_of(kind.value), kind.origin);
  if (architecture.task != Task::causal_lm) cannot(architecture.model_type, mesh.sharding.origin);
}

}  // namespace oomplan::estimator
