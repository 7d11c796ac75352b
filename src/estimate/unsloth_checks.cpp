#include "unsloth_checks.hpp"

#include <algorithm>

#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

/// What of it was.
void check_compiled(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " under code that Unsloth compiles is not modelled yet", origin));
  };
  if (plan.batch.joined.value == 0) cannot("padded rows", plan.batch.joined.origin);
  if (plan.quantization.kind.value != Quantization::none) cannot("4-bit weights", plan.quantization.kind.origin);
  if (!plan.checkpointing.on.value) cannot("training without checkpoints", plan.checkpointing.on.origin);
  const std::vector<std::uint8_t>& kinds = architecture.body.front().layers;
  const bool alike = std::ranges::count(kinds, kinds.empty() ? 0 : kinds.front()) == std::ssize(kinds);
  if (alike) cannot("a model whose layers are all of one kind", plan.model.name.origin);
  // Of two layers a part is compiled again in the second step, whose frames are garbage too.
  if (architecture.layers < 3) cannot("a model of fewer than three layers", plan.model.name.origin);
  if (plan.evaluation.evaluates.value) cannot("evaluation", plan.evaluation.evaluates.origin);
  if (plan.precision.weights_dtype.value == WeightsDType::fp16) cannot("fp16", plan.precision.weights_dtype.origin);
  if (!plan.adapter.modules_to_save.value.empty()) cannot("modules_to_save", plan.adapter.modules_to_save.origin);
}

/// Whether torch.compile runs a layer's attention between Unsloth's own functions, as Gemma 2's.
bool compiles_attention(const TrainingPlan& plan, const Architecture& architecture) {
  const auto is_capped = [](const OpSpec& op) { return op.find("softcap") != nullptr; };
  return plan.kernels.unsloth.value != UnslothLayers::none && architecture.unsloth && any_op(architecture, is_capped);
}

void check_capped(const TrainingPlan& plan, Diagnostics& errors) {
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " by Unsloth of a model that caps its attention is not modelled yet", origin));
  };
  if (plan.recipe.kind.value != RecipeKind::supervised)
    cannot("training that is not supervised", plan.recipe.kind.origin);
  if (plan.batch.joined.value > 0) cannot("joined rows", plan.batch.joined.origin);
  if (!plan.checkpointing.on.value) cannot("training without checkpoints", plan.checkpointing.on.origin);
  if (plan.evaluation.evaluates.value) cannot("evaluation", plan.evaluation.evaluates.origin);
  if (plan.precision.weights_dtype.value == WeightsDType::fp16) cannot("fp16", plan.precision.weights_dtype.origin);
  if (!plan.adapter.modules_to_save.value.empty()) cannot("modules_to_save", plan.adapter.modules_to_save.origin);
}

}  // namespace

bool runs_compiled(const TrainingPlan& plan, const Architecture& architecture) {
  return plan.recipe.loss.value == Loss::unsloth_fused && architecture.unsloth_compiles;
}

Diagnostics check_compiled_peak(const TrainingPlan& plan, const Architecture& architecture, bool in_loss) {
  if (in_loss || (!runs_compiled(plan, architecture) && !compiles_attention(plan, architecture))) return {};
  return {unmodelled("a step by Unsloth's compiled code whose peak is not the loss is not modelled yet",
                     plan.batch.sequence_length.origin)};
}

void check_unsloth(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const bool on = plan.kernels.unsloth.value != UnslothLayers::none;
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " is not modelled yet", origin));
  };
  const bool buffered = plan.checkpointing.offload.value == Offload::buffered;
  const bool fused = plan.recipe.loss.value == Loss::unsloth_fused;
  const bool compiled = runs_compiled(plan, architecture);
  if (compiled) check_compiled(plan, architecture, errors);
  if (compiles_attention(plan, architecture)) check_capped(plan, errors);
  if (!on && !compiled) {
    if (plan.framework.starts_with("unsloth "))
      return cannot("training of " + architecture.model_type + " models by Unsloth's FastModel",
                    plan.model.name.origin);
    if (buffered) cannot("activation_offload buffered without Unsloth's layers", plan.checkpointing.offload.origin);
    if (fused) cannot("the loss unsloth_fused without Unsloth's layers", plan.recipe.loss.origin);
    return;
  }
  if (!architecture.unsloth && !compiled) {
    cannot("training of " + architecture.model_type + " models by Unsloth", plan.model.name.origin);
  }
  const RecipeKind kind = plan.recipe.kind.value;
  const bool rollouts = kind == RecipeKind::grpo;
  const bool pairs = rollouts || kind == RecipeKind::reference_free || kind == RecipeKind::dpo;
  if (fused == pairs) cannot("another loss over Unsloth's layers", plan.recipe.loss.origin);
  const Offload offload = plan.checkpointing.offload.value;
  if (offload != Offload::none && !buffered) {
    cannot("this activation_offload under Unsloth's layers", plan.checkpointing.offload.origin);
  }
  if (plan.checkpointing.on.value && !plan.checkpointing.reentrant.value) {
    cannot("checkpointing of Unsloth's layers that is not reentrant", plan.checkpointing.reentrant.origin);
  }
  if (plan.recipe.kind.value != RecipeKind::supervised && !pairs) {
    cannot("training by Unsloth other than supervised, by DPO, ORPO or GRPO", plan.recipe.kind.origin);
  }
  if (rollouts && plan.recipe.generation.value != Generation::vllm)
    cannot("GRPO by Unsloth without vLLM on the same GPU", plan.recipe.generation.origin);
  if (rollouts && !plan.recipe.vllm_sleeps.value)
    cannot("vLLM that shares Unsloth's weights and does not sleep", plan.recipe.vllm_sleeps.origin);
  if (rollouts && plan.recipe.second_term.value)
    cannot("GRPO by Unsloth whose policy scores a rollout before its steps", plan.recipe.second_term.origin);
  if (plan.recipe.label_smoothing.value) cannot("label smoothing by Unsloth", plan.recipe.label_smoothing.origin);
  if (plan.recipe.neftune.value) cannot("NEFTune by Unsloth", plan.recipe.neftune.origin);
  if (plan.mesh.sharding.value != Sharding::none) {
    cannot("Unsloth on more than one GPU", plan.mesh.sharding.origin);
  }
  const AdapterFacts& adapter = plan.adapter;
  if (adapter.kind.value != Adapter::lora) cannot("training without adapters by Unsloth", adapter.kind.origin);
  if (adapter.dora.value) cannot("DoRA under Unsloth", adapter.dora.origin);
  if (adapter.dropout.value != 0) cannot("dropout of adapters under Unsloth", adapter.dropout.origin);
  const bool embedding = adapter.modules_to_save.value == std::vector<std::string>{"embed_tokens"};
  if (!adapter.modules_to_save.value.empty() && !embedding) {
    cannot("modules_to_save under Unsloth other than embed_tokens", adapter.modules_to_save.origin);
  }
  if (embedding && architecture.tied_embeddings) {
    cannot("a trained embedding by Unsloth that is tied to the head", adapter.modules_to_save.origin);
  }
  if (architecture.tied_embeddings && std::ranges::count(adapter.targets.value, "lm_head") > 0) {
    cannot("LoRA by Unsloth on a head that is tied to the embedding", adapter.targets.origin);
  }
  if (plan.quantization.kind.value == Quantization::int8) {
    cannot("8-bit weights under Unsloth", plan.quantization.kind.origin);
  }
}

}  // namespace oomplan::estimator
