#include "loss_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "facts.hpp"
#include "objective.hpp"
#include "play.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

void check_liger(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const KernelFacts& k = plan.kernels;
  const LigerParts& known = architecture.liger;
  const auto cannot = [&](std::string_view what, const Origin& origin) {
    errors.push_back(
        unmodelled(fmt::format("Liger's {} for {} is not modelled yet", what, architecture.model_type), origin));
  };
  if (k.liger_rms_norm.value && !known.rms_norm) cannot("RMSNorm", k.liger_rms_norm.origin);
  if (k.liger_rope.value && !known.rope) cannot("rotary embedding", k.liger_rope.origin);
  if (k.liger_glu.value && !known.glu) cannot("MLP", k.liger_glu.origin);
  if (k.liger_layer_norm.value && known.layer_norm.value_or(true)) cannot("LayerNorm", k.liger_layer_norm.origin);
  const Loss loss = plan.recipe.loss.value;
  const bool patched = loss == Loss::liger_0_8_0_fused_linear;  // Axolotl gives other models one of its own making.
  if ((loss == Loss::liger_fused_linear && !known.loss) || (patched && !known.loss.value_or(false)))
    cannot("loss", plan.recipe.loss.origin);
}

/// A loss that makes the logits itself leaves out what the model's own code does to them.
void check_head(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (architecture.head.find("shifts_logits") != nullptr && plan.batch.padding_mask.value) {
    errors.push_back(
        unmodelled(architecture.model_type + "'s loss, which leaves the padding of rows out, is not modelled yet",
                   plan.batch.padding_mask.origin));
  }
  // Cut cross entropy's kernels cap by themselves.
  const bool capped = architecture.head.find("softcap") != nullptr && plan.recipe.loss.value != Loss::cut_cross_entropy;
  const bool changed =
      capped || architecture.head.find("after") != nullptr || architecture.head.find("shifts_logits") != nullptr;
  const Objective* objective = objective_of(plan, architecture);
  if (!changed || objective == nullptr || objective->as_finished) return;
  errors.push_back(
      unmodelled(fmt::format("the loss {} over the capped or scaled logits of {} is not modelled yet",
                             loss_names[static_cast<std::size_t>(plan.recipe.loss.value)], architecture.model_type),
                 plan.recipe.loss.origin));
}

/// Cut cross entropy's backward asserts a head in 16 bits (cut_cross_entropy/cce_backward.py).
void check_cut_cross_entropy(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (plan.recipe.loss.value != Loss::cut_cross_entropy) return;
  if (!architecture.cut_cross_entropy) {
    errors.push_back(
        unmodelled("cut cross entropy of " + architecture.model_type + " is not modelled", plan.recipe.loss.origin));
  }
  const bool trains_head = plan.precision.trained_to_fp32.value && plan.adapter.kind.value == Adapter::none;
  const bool raised = plan.precision.fp32_norms.value || plan.quantization.kbit_upcast.value || trains_head;
  if (!raised && loaded_dtype(plan, architecture) != DType::fp32) return;
  errors.push_back(unmodelled("cut cross entropy over a head in fp32, which its backward pass refuses, is not modelled",
                              plan.recipe.loss.origin));
}

/// Whether an op hands on what its router makes of each token.
bool gives_router_logits(const Architecture& architecture) {
  constexpr std::array<std::string_view, 2> giving{"sparse_moe", "biased_moe"};
  const auto gives = [&](const OpSpec& op) { return std::ranges::count(giving, op.op) > 0; };
  return any_op(architecture, gives);
}

void check_router_loss(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Setting<bool>& added = plan.recipe.router_loss;
  if (!added.value) return;
  const RecipeKind kind = plan.recipe.kind.value;
  const bool played = kind == RecipeKind::supervised || kind == RecipeKind::dpo || kind == RecipeKind::kto;
  if (!played || plan.recipe.loss.value != Loss::chunked_logprob)
    errors.push_back(unmodelled("the load-balancing loss of routers beside this loss is not modelled", added.origin));
  if (!gives_router_logits(architecture))
    errors.push_back(
        unmodelled("the load-balancing loss of " + architecture.model_type + " is not modelled", added.origin));
}

}  // namespace

void check_losses(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  check_liger(plan, architecture, errors);
  check_head(plan, architecture, errors);
  check_cut_cross_entropy(plan, architecture, errors);
  check_router_loss(plan, architecture, errors);
}

}  // namespace oomplan::estimator
