#include "own_models.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace oomplan::estimator {
namespace {

constexpr auto measured_optimizers = std::to_array<std::string_view>(
    {"adamw_foreach", "adamw_fused", "adamw_for_each", "adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit"});

/// Notes what is not played of the models of one framework.
class Cannot {
 public:
  Cannot(std::string_view whose, Diagnostics& errors) : whose_(whose), errors_(errors) {}

  void operator()(const std::string& what, const Origin& origin) const {
    Diagnostic d;
    d.code = "estimate/unmodelled";
    d.message = what + " of " + std::string(whose_) + " models is not modelled yet";
    d.where = origin.where;
    errors_.push_back(std::move(d));
  }

  void unless_measured(const OptimizerFacts& optimizer) const {
    if (std::ranges::count(measured_optimizers, optimizer.name.value) == 0)
      (*this)("the optimizer " + optimizer.name.value, optimizer.name.origin);
  }

 private:
  std::string_view whose_;
  Diagnostics& errors_;
};

/// Its recipe of a whole model is for several GPUs; of quantized weights no run was measured.
void check_torchtune_pairs(const TrainingPlan& plan, const Cannot& cannot) {
  const Setting<Reference>& reference = plan.recipe.reference;
  const MeshFacts& mesh = plan.mesh;
  if (reference.value == Reference::model && mesh.sharding.value == Sharding::none)
    cannot("DPO with a reference model on one GPU, for which there is no recipe,", reference.origin);
  if (plan.adapter.kind.value == Adapter::none && reference.value != Reference::model)
    cannot("DPO of a whole model without a reference model", reference.origin);
  if (plan.quantization.kind.value != Quantization::none)
    cannot("DPO of quantized weights", plan.quantization.kind.origin);
  if (plan.adapter.dora.value) cannot("DPO of DoRA", plan.adapter.dora.origin);
  if (mesh.fsdp_offload.value) cannot("DPO with shards on the host", mesh.fsdp_offload.origin);
}

void check_torchtune(const TrainingPlan& plan, Diagnostics& errors) {
  const Cannot cannot("torchtune's", errors);
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  const Quantization quantized = plan.quantization.kind.value;
  const bool by_torchao = plan.quantization.linear.value == QuantizedLinear::torchao;
  if (quantized != Quantization::none && !(by_torchao && quantized == Quantization::nf4))
    cannot("quantization other than torchao's NF4", plan.quantization.kind.origin);
  if (plan.precision.weights_dtype.value == WeightsDType::fp32) cannot("fp32", plan.precision.weights_dtype.origin);
  if (adapts && plan.checkpointing.offload.value != Offload::none)
    cannot("activation offloading beside adapters", plan.checkpointing.offload.origin);
  cannot.unless_measured(plan.optimizer);
  if (plan.recipe.kind.value == RecipeKind::raised_pairs) check_torchtune_pairs(plan, cannot);
}

bool is_litgpt(const TrainingPlan& plan) { return plan.framework.starts_with("litgpt "); }
bool has_litgpt_model(const Architecture& architecture) { return architecture.model_type.starts_with("litgpt"); }

/// As Lightning's FSDPStrategy has them on several GPUs.
void check_litgpt_ranks(const TrainingPlan& plan, const Cannot& cannot) {
  const MeshFacts& mesh = plan.mesh;
  const bool checkpoints = plan.checkpointing.on.value;
  if (mesh.world_size.value <= 1) {
    if (checkpoints) cannot("gradient checkpointing", plan.checkpointing.on.origin);
    return;
  }
  if (!plan.unmodelled.empty()) return;  // The config's keys say it better.
  const bool as_lightning = mesh.sharding.value == Sharding::fsdp1 && mesh.fsdp_units.value == ShardUnits::blocks &&
                            mesh.fsdp_orig_params.value && mesh.fsdp_classes.value.empty() &&
                            mesh.fsdp_prefetch.value == BackwardPrefetch::pre && !mesh.fsdp_offload.value &&
                            mesh.fsdp_reshard.value == Reshard::automatic && mesh.fsdp_replicas.value == 1;
  if (!as_lightning)
    cannot("training on several GPUs otherwise than by Lightning's FSDPStrategy", mesh.sharding.origin);
  if (!checkpoints) cannot("several GPUs without checkpoints", plan.checkpointing.on.origin);
  if (checkpoints && plan.checkpointing.reentrant.value)
    cannot("reentrant checkpoints", plan.checkpointing.reentrant.origin);
  if (plan.precision.autocast.value != Autocast::none)
    cannot("autocast on several GPUs", plan.precision.autocast.origin);
}

void check_litgpt(const TrainingPlan& plan, Diagnostics& errors) {
  const Cannot cannot("litgpt's", errors);
  const Setting<Quantization>& quantized = plan.quantization.kind;
  const bool in_4_bits = quantized.value == Quantization::nf4 || quantized.value == Quantization::fp4;
  const bool by_lightning = plan.quantization.linear.value == QuantizedLinear::lightning;
  if (quantized.value != Quantization::none && !(in_4_bits && by_lightning))
    cannot("quantization other than Lightning's to 4 bits", quantized.origin);
  if (in_4_bits && plan.precision.weights_dtype.value != WeightsDType::bf16)
    cannot("quantization beside another dtype than bf16", plan.precision.weights_dtype.origin);
  if (!plan.quantization.skipped.value.empty())
    cannot("a module that is not quantized", plan.quantization.skipped.origin);
  check_litgpt_ranks(plan, cannot);
  if (plan.checkpointing.offload.value != Offload::none)
    cannot("activation offloading", plan.checkpointing.offload.origin);
  if (plan.adapter.dora.value) cannot("DoRA", plan.adapter.dora.origin);
  if (plan.kernels.attention.value != Attention::sdpa)
    cannot("attention by another function", plan.kernels.attention.origin);
  const Loss own = plan.adapter.kind.value == Adapter::none ? Loss::chunked_rows : Loss::chunked_head;
  if (plan.recipe.loss.value != own) cannot("another loss", plan.recipe.loss.origin);
  cannot.unless_measured(plan.optimizer);
}

/// What litgpt alone has, asked for by another framework's plan.
void check_outside_litgpt(const TrainingPlan& plan, Diagnostics& errors) {
  constexpr auto own = std::to_array({Loss::chunked_head, Loss::chunked_rows, Loss::sliced_logits});
  const Cannot cannot("other frameworks'", errors);
  const Setting<Loss>& loss = plan.recipe.loss;
  if (std::ranges::count(own, loss.value) > 0)
    cannot("the loss " + std::string(loss_names[static_cast<std::size_t>(loss.value)]), loss.origin);
  const bool in_4_bits = plan.quantization.kind.value != Quantization::none;
  if (in_4_bits && plan.quantization.linear.value == QuantizedLinear::lightning)
    cannot("quantization by Lightning", plan.quantization.linear.origin);
}

}  // namespace

void check_own_models(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (plan.framework.starts_with("torchtune ")) check_torchtune(plan, errors);
  if (is_litgpt(plan) && has_litgpt_model(architecture)) return check_litgpt(plan, errors);
  if (!is_litgpt(plan)) check_outside_litgpt(plan, errors);
  if (is_litgpt(plan)) Cannot("transformers'", errors)("litgpt's training", plan.model.name.origin);
  if (has_litgpt_model(architecture))
    Cannot("litgpt's", errors)("training by another framework", plan.model.name.origin);
}

}  // namespace oomplan::estimator
