#include "weight_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "oomplan/core/pattern.hpp"

namespace oomplan::estimator {
namespace {

// A list leaves out what is not in it, the head too (quantizers/base.py: get_modules_to_not_convert).
void check_skipped(const TrainingPlan& plan, Diagnostics& errors) {
  const Setting<std::vector<std::string>>& skipped = plan.quantization.skipped;
  if (skipped.value.empty() || plan.quantization.kind.value == Quantization::none) return;
  const auto cannot = [&](const std::string& what) { errors.push_back(unmodelled(what, skipped.origin)); };
  const bool by_torchao = plan.quantization.linear.value == QuantizedLinear::torchao;  // Which takes no head.
  if (!by_torchao && std::ranges::count(skipped.value, "lm_head") == 0) {
    cannot("a quantized head, which a list of unquantized modules without lm_head asks for, is not modelled yet");
  }
  for (const std::string& text : skipped.value) {
    if (!Pattern::parse(text)) cannot(fmt::format("the regular expression \"{}\" is not read yet", text));
  }
}

/// What of torchtune's own models no run was held against, also where no key of a config asks for it.
void check_torchtune(const TrainingPlan& plan, Diagnostics& errors) {
  constexpr auto measured = std::to_array<std::string_view>(
      {"adamw_foreach", "adamw_fused", "adamw_for_each", "adamw_8bit", "paged_adamw_8bit", "paged_adamw_32bit"});
  if (!plan.framework.starts_with("torchtune ")) return;
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back(unmodelled(what + " of torchtune's models is not modelled yet", origin));
  };
  const bool adapts = plan.adapter.kind.value != Adapter::none;
  const Quantization quantized = plan.quantization.kind.value;
  const bool by_torchao = plan.quantization.linear.value == QuantizedLinear::torchao;
  if (quantized != Quantization::none && !(by_torchao && quantized == Quantization::nf4))
    cannot("quantization other than torchao's NF4", plan.quantization.kind.origin);
  if (plan.precision.weights_dtype.value == WeightsDType::fp32) cannot("fp32", plan.precision.weights_dtype.origin);
  if (adapts && plan.checkpointing.offload.value != Offload::none)
    cannot("activation offloading beside adapters", plan.checkpointing.offload.origin);
  if (std::ranges::count(measured, plan.optimizer.name.value) == 0)
    cannot("the optimizer " + plan.optimizer.name.value, plan.optimizer.name.origin);
}

void check_quantization(const TrainingPlan& plan, Diagnostics& errors) {
  const Setting<Quantization>& kind = plan.quantization.kind;
  const auto cannot = [&](std::string_view why) { errors.push_back(unmodelled(std::string(why), kind.origin)); };
  if (kind.value != Quantization::none && plan.adapter.kind.value == Adapter::none) {
    cannot("training quantized weights without an adapter is not possible");
  }
  const bool by_torchao = plan.quantization.linear.value == QuantizedLinear::torchao;
  if (kind.value != Quantization::none && by_torchao && !plan.framework.starts_with("torchtune ")) {
    cannot("torchao's weights in another framework than torchtune are not modelled yet");
  }
  check_skipped(plan, errors);
  if (kind.value != Quantization::int8) return;
  if (plan.quantization.linear.value != QuantizedLinear::bitsandbytes) {
    cannot("8-bit weights of another library than bitsandbytes are not modelled yet");
  }
  const KernelFacts& k = plan.kernels;
  if (k.lora_qkv.value || k.lora_o.value || k.lora_mlp.value) {
    cannot("fused LoRA kernels over 8-bit weights are not modelled yet");
  }
}

// Held against full fine-tuning by torchtune's recipe for one GPU.
void check_fake_quantization(const TrainingPlan& plan, Diagnostics& errors) {
  const Setting<std::int64_t>& group = plan.quantization.fake_group;
  if (group.value == 0) return;
  const auto cannot = [&](const std::string& where) {
    errors.push_back(unmodelled("quantization-aware training " + where + " is not modelled yet", group.origin));
  };
  if (plan.adapter.kind.value != Adapter::none) cannot("of an adapter");
  if (!plan.framework.starts_with("torchtune ")) cannot("by another framework than torchtune");
}

void check_dora(const TrainingPlan& plan, Diagnostics& errors) {
  const Setting<bool>& dora = plan.adapter.dora;
  const KernelFacts& k = plan.kernels;
  if (!dora.value || plan.adapter.kind.value == Adapter::none) return;
  const bool by_torchao = plan.quantization.linear.value == QuantizedLinear::torchao;
  if (plan.quantization.kind.value != Quantization::none && !by_torchao) {
    errors.push_back(unmodelled("DoRA over quantized weights is not modelled yet", dora.origin));
  }
  if (k.lora_qkv.value || k.lora_o.value || k.lora_mlp.value) {
    errors.push_back(unmodelled("DoRA in fused LoRA kernels is not modelled yet", dora.origin));
  }
}

}  // namespace

void check_weights(const TrainingPlan& plan, Diagnostics& errors) {
  check_torchtune(plan, errors);
  check_quantization(plan, errors);
  check_dora(plan, errors);
  check_fake_quantization(plan, errors);
}

}  // namespace oomplan::estimator
