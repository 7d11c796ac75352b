#include "weight_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
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
    // `$` ends a module's whole name, of which the estimator has the start.
    if (!Pattern::parse(text) || text.find('$') != text.npos)
      cannot(fmt::format("the regular expression \"{}\" is not read yet", text));
  }
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
  if (k.lora_qkv.value || k.lora_o.value || k.lora_mlp.value) {
    errors.push_back(unmodelled("DoRA in fused LoRA kernels is not modelled yet", dora.origin));
  }
}

// transformers/quantizers/quantizer_mxfp4.py: is_trainable, at which the Trainer stops; without the package kernels, or
// triton, it dequantizes by itself (validate_environment).
void check_packed(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  if (architecture.packed.empty()) return;
  const Setting<Dequantized>& dequantized = plan.quantization.dequantized;
  if (dequantized.value == Dequantized::none) {
    Diagnostic d = unmodelled(fmt::format("{}: weights quantized in the checkpoint ({}), of which transformers trains "
                                          "none before they are dequantized, are not modelled",
                                          architecture.source, architecture.packed),
                              plan.model.name.origin);
    d.hint =
        "dequantized says where Mxfp4Config(dequantize=True), or a machine without the package kernels, makes them "
        "whole: --set plan.dequantized=on_device where the model is loaded to the GPU, else on_host";
    return errors.push_back(std::move(d));
  }
  if (plan.quantization.kind.value == Quantization::none) return;
  errors.push_back(unmodelled(
      "quantizing weights that the checkpoint has in " + architecture.packed + " once more is not modelled yet",
      plan.quantization.kind.origin));
}

}  // namespace

void check_weights(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  check_packed(plan, architecture, errors);
  check_quantization(plan, errors);
  check_dora(plan, errors);
  check_fake_quantization(plan, errors);
}

}  // namespace oomplan::estimator
