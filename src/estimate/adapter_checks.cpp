#include "adapter_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "recipe_titles.hpp"
#include "weight_checks.hpp"

namespace oomplan::estimator {
namespace {

bool asks_for_kernels(const KernelFacts& k) { return k.lora_qkv.value || k.lora_o.value || k.lora_mlp.value; }

/// Whether all linear layers of its blocks are those of attention with rotary embeddings and of a gated MLP.
bool is_plain(const Architecture& architecture) {
  constexpr std::array<std::string_view, 5> ops{"keep_residual", "add_residual", "rms_norm", "rotary_attention",
                                                "gated_mlp"};
  if (architecture.body.size() != 1 || architecture.body.front().groups != 0) return false;
  const auto known = [&](const OpSpec& spec) { return std::ranges::count(ops, spec.op) > 0; };
  const auto all_known = [&](const std::vector<OpSpec>& block) { return std::ranges::all_of(block, known); };
  return architecture.task == Task::causal_lm && architecture.rows == Rows::tokens &&
         std::ranges::all_of(architecture.body.front().kinds, all_known);
}

/// As TRL's SFTTrainer quantizes, where peft has a forward for it, or none of its own is needed.
bool is_over_quantized(const TrainingPlan& plan) {
  constexpr std::array kinds{Adapter::ia3, Adapter::vera, Adapter::oft};
  return plan.quantization.linear.value == QuantizedLinear::bitsandbytes && plan.framework.starts_with("trl ") &&
         std::ranges::count(kinds, plan.adapter.kind.value) > 0;
}

/// A kind's own defaults are not LoRA's, which stand where nothing is said; LLaMA-Factory says its own.
void check_said(const TrainingPlan& plan, Diagnostics& errors) {
  const AdapterFacts& adapter = plan.adapter;
  const Adapter kind = adapter.kind.value;
  const auto needs = [&](bool needed, std::string_view fact, const Origin& said) {
    if (!needed || said.is_said() || plan.framework.starts_with("llamafactory ")) return;
    errors.push_back(
        unmodelled(fmt::format("{} without {} is not modelled yet: peft's default is of its own", title_of(kind), fact),
                   adapter.kind.origin));
  };
  needs(kind == Adapter::ia3, "ia3_feedforward", adapter.feedforward.origin);
  needs(kind == Adapter::vera, "lora_dropout", adapter.dropout.origin);
  const bool by_rank = kind == Adapter::vera || kind == Adapter::loha || kind == Adapter::lokr ||
                       (kind == Adapter::oft && adapter.block.value == 0);
  needs(by_rank, "lora_rank", adapter.rank.origin);
  if (kind != Adapter::vera && adapter.dropout.value > 0 && adapter.dropout.origin.is_said())
    errors.push_back(
        unmodelled(std::string(title_of(kind)) + " with dropout is not modelled yet", adapter.dropout.origin));
}

/// What a run of another kind than LoRA is made by, as far as runs of it were measured.
struct Ran {
  bool by_trl = false;
  bool by_llamafactory = false;
  bool compared = false;    ///< In TRL's DPO.
  bool replicated = false;  ///< In TRL's SFT under DDP.
  bool quantized = false;
  /// TRL's SFT on one GPU over weights that are not quantised.
  bool in_plain_sft() const { return by_trl && !compared && !replicated && !quantized; }
};

Ran ran(const TrainingPlan& plan) {
  Ran out;
  out.by_trl = plan.framework.starts_with("trl ");
  // LLaMA-Factory's one beside LoRA: peft's code of it has been the same since 0.18.1, and all else is as with LoRA.
  out.by_llamafactory = plan.framework.starts_with("llamafactory ") && plan.adapter.kind.value == Adapter::oft;
  out.compared = out.by_trl && plan.recipe.kind.value == RecipeKind::dpo;
  out.quantized = plan.quantization.kind.value != Quantization::none;
  out.replicated = out.by_trl && !out.compared && !out.quantized && plan.mesh.sharding.value == Sharding::ddp;
  return out;
}

/// TRL 1.16 and transformers' Trainer with peft 0.21.2, or no framework that is named.
bool is_known(const TrainingPlan& plan, const Ran& run) {
  const std::string& by = plan.framework;
  const bool of_trainer = by.starts_with("trl 1.16.") || by.starts_with("transformers ");
  return by.empty() || run.by_llamafactory || (of_trainer && by.find("transformers 5.23.") != std::string::npos);
}

/// Collects what is not played of a kind.
struct Gaps {
  std::string title;
  Diagnostics& errors;
  void operator()(bool holds, const std::string& what, const Origin& origin) const {
    if (holds) errors.push_back(unmodelled(title + " " + what + " is not modelled yet", origin));
  }
};

void check_run(const TrainingPlan& plan, const Ran& run, const Gaps& cannot) {
  const AdapterFacts& adapter = plan.adapter;
  const RecipeKind recipe = plan.recipe.kind.value;
  cannot(!is_known(plan, run), "by " + plan.framework, adapter.kind.origin);
  cannot(recipe != RecipeKind::supervised && !run.compared, "in " + title_of(recipe), plan.recipe.kind.origin);
  cannot(plan.mesh.sharding.value != Sharding::none && !run.replicated, "of a model spread over ranks in this way",
         plan.mesh.sharding.origin);
  cannot(plan.mesh.tensor_parallel.value > 1 || is_pipelined(plan.mesh), "of a model in parts", adapter.kind.origin);
  cannot(asks_for_kernels(plan.kernels), "in fused LoRA kernels", plan.kernels.lora_mlp.origin);
  cannot(has_liger_layers(plan.kernels) && (run.compared || run.by_llamafactory), "beside Liger's kernels",
         plan.kernels.liger_rms_norm.origin);
  cannot(plan.checkpointing.offload.value != Offload::none, "with activation offloading",
         plan.checkpointing.offload.origin);
  cannot(plan.optimizer.in_backward.value, "with an optimizer that steps in backward",
         plan.optimizer.in_backward.origin);
}

void check_adapted(const TrainingPlan& plan, const Architecture& architecture, const Ran& run, const Gaps& cannot) {
  const AdapterFacts& adapter = plan.adapter;
  cannot(run.quantized && !is_over_quantized(plan), "over weights quantized in this way",
         plan.quantization.kind.origin);
  cannot(!is_plain(architecture), "of " + architecture.model_type, adapter.kind.origin);
  cannot(!adapter.target_parameters.value.empty(), "on parameters", adapter.target_parameters.origin);
  cannot(!run.in_plain_sft() && !adapter.modules_to_save.value.empty(), "beside modules_to_save",
         adapter.modules_to_save.origin);
  const bool takes_layers =
      run.in_plain_sft() && adapter.kind.value != Adapter::ia3;  // Whose config has no key for it.
  cannot(!takes_layers && !adapter.layers.value.empty(), "on some layers", adapter.layers.origin);
  cannot(!run.quantized && adapter.dtype.value != AdapterDType::fp32, "with weights in another type than fp32",
         adapter.dtype.origin);
  cannot(adapter.dora.value, "with DoRA", adapter.dora.origin);
  const bool freezes = !plan.recipe.frozen.value.empty() && !run.by_llamafactory;  // Parts that models of text lack.
  cannot(!plan.recipe.trained.value.empty() || freezes, "with parameters named by hand", plan.recipe.trained.origin);
  cannot(adapter.targets.value == std::vector<std::string>{"peft-default"}, "on the modules that peft chooses",
         adapter.targets.origin);
}

/// Initialisations that decompose weights leave LoRA as it is once they are done.
void check_decomposition(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const AdapterFacts& adapter = plan.adapter;
  const auto cannot = [&](bool holds, const std::string& what) {
    if (!holds) return;
    const std::string_view name = adapter_init_names[static_cast<std::size_t>(adapter.init.value)];
    errors.push_back(unmodelled(fmt::format("{} {} is not modelled yet", name, what), adapter.init.origin));
  };
  constexpr std::int64_t highest_rank_shown = 256;  // What is made of so many vectors is small beside a weight.
  cannot(adapter.kind.value != Adapter::lora, "of another adapter than LoRA");
  cannot(adapter.rank.value > highest_rank_shown, fmt::format("of a rank above {}", highest_rank_shown));
  cannot(plan.quantization.kind.value != Quantization::none, "over quantized weights");
  cannot(plan.mesh.sharding.value != Sharding::none, "of a model on several ranks");
  cannot(plan.mesh.tensor_parallel.value > 1 || is_pipelined(plan.mesh), "of a model in parts");
  cannot(plan.kernels.unsloth.value != UnslothLayers::none, "by Unsloth");
  cannot(adapter.dora.value, "with DoRA");
  cannot(!architecture.expert_names.empty() || !adapter.target_parameters.value.empty(), "on experts' parameters");
}

}  // namespace

std::string_view title_of(Adapter kind) {
  constexpr std::array<std::string_view, adapter_names.size()> titles{"no adapter", "LoRA", "IA³", "VeRA",
                                                                      "OFT",        "LoHa", "LoKr"};
  return titles.at(static_cast<std::size_t>(kind));
}

void check_adapter(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const Adapter kind = plan.adapter.kind.value;
  if (kind == Adapter::none) return;
  if (kind != Adapter::ia3 && !plan.adapter.feedforward.value.empty())
    errors.push_back(unmodelled("ia3_feedforward of " + std::string(title_of(kind)) + " is not modelled yet",
                                plan.adapter.feedforward.origin));
  if (kind != Adapter::lora) {
    check_said(plan, errors);
    const Ran run = ran(plan);
    const Gaps cannot{std::string(title_of(kind)), errors};
    check_run(plan, run, cannot);
    check_adapted(plan, architecture, run, cannot);
  }
  if (plan.adapter.init.value != AdapterInit::plain) check_decomposition(plan, architecture, errors);
}

Diagnostics check_init(const TrainingPlan& plan, bool while_loading) {
  const AdapterFacts& adapter = plan.adapter;
  if (!while_loading) return {};
  const std::string_view name = adapter_init_names[static_cast<std::size_t>(adapter.init.value)];
  return {unmodelled(fmt::format("{} takes more than a step does if the model is on the GPU by then, and what cuSOLVER "
                                 "takes is not modelled yet",
                                 name),
                     adapter.init.origin)};
}

}  // namespace oomplan::estimator
