#include "expert_targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace oomplan::estimator {
namespace {

constexpr std::string_view all_linear = "all-linear";

bool names(const std::string& target, const std::string& name) {
  return target == name || target.ends_with("." + name);
}

bool any_names(const std::vector<std::string>& targets, const std::string& name) {
  return std::ranges::any_of(targets, [&](const std::string& target) { return names(target, name); });
}

/// Whether a linear layer of the model is called as the experts' matrices were: a dense layer's, a shared expert's.
bool has_linear(const Architecture& architecture, const std::string& name) {
  const auto has = [&](const OpSpec& op) {
    return name == "gate_proj" && (op.op == "gated_mlp" || op.op == "gated_attention" || op.find("shared") != nullptr);
  };
  return any_op(architecture, has);
}

/// all-linear as peft hears of it. From 0.21 on it is told so, and knows that experts and routers were linear layers;
/// before, a framework gives it the names of those that are.
void spell_out(const Architecture& architecture, ParameterUpdate update, std::vector<std::string>& targets) {
  const std::vector<std::string>& experts = architecture.expert_names;
  if (experts.size() != 3 || std::ranges::count(targets, all_linear) == 0) return;
  const bool told = update == ParameterUpdate::folded;
  if (told) targets.emplace_back("gate");
  if (told || has_linear(architecture, experts[0])) targets.insert(targets.end(), experts.begin(), experts.end());
}

/// What peft refuses of Mamba's blocks (tuners_utils.py: _check_lora_target_modules_mamba).
std::string refused_of_mamba(const AdapterFacts& adapter, const Architecture& architecture) {
  constexpr std::array<std::string_view, 2> refused{"out_proj", "conv1d"};
  if (architecture.linear_layers.empty()) return {};
  for (const std::string& target : adapter.targets.value) {
    const bool named =
        std::ranges::any_of(refused, [&](std::string_view name) { return names(target, std::string(name)); });
    if (named || target == all_linear)
      return fmt::format("LoRA on {} of {}, which peft refuses,", target, architecture.model_type);
  }
  return {};
}

/// peft makes names of all-linear where experts are parameters, and those ends of names other modules of a tower have
/// too: GLM-4.5V's convolution is called "proj", Qwen3-Omni's layers "0" and "2", which stops the run.
std::string refused_of_towers(const AdapterFacts& adapter, const Architecture& architecture) {
  const bool all = std::ranges::count(adapter.targets.value, all_linear) > 0;
  if (!all || architecture.expert_names.size() != 3 || !has_tower(architecture)) return {};
  return fmt::format("LoRA on {} of {}, of which peft makes names that its tower has too,", all_linear,
                     architecture.model_type);
}

/// The parameters that these targets come to, where the family has gate, up and down under `experts`.
std::vector<std::string> parameters_of(const std::vector<std::string>& targets,
                                       const std::vector<std::string>& experts) {
  std::vector<std::string> out;
  if (experts.size() != 3) return out;
  if (any_names(targets, "gate")) out.emplace_back("gate.weight");
  if (any_names(targets, experts[0])) out.emplace_back("gate_up_proj");
  if (any_names(targets, experts[2])) out.emplace_back("down_proj");
  return out;
}

}  // namespace

void name_experts(const Architecture& architecture, Facts& facts) {
  const std::vector<std::string>& experts = architecture.expert_names;
  spell_out(architecture, facts.update, facts.lora_targets);
  const std::vector<std::string> made = parameters_of(facts.lora_targets, experts);
  if (made.empty()) return;
  facts.gate_up_doubled = std::ranges::count(made, "gate_up_proj") > 0;
  facts.target_parameters.insert(facts.target_parameters.end(), made.begin(), made.end());
  facts.unadapted = experts;
  facts.unadapted.emplace_back("gate");
  std::erase_if(facts.lora_targets, [&](const std::string& target) {
    return std::ranges::any_of(facts.unadapted, [&](const std::string& name) { return names(target, name); });
  });
}

std::string refused_targets(const TrainingPlan& plan, const Architecture& architecture) {
  const AdapterFacts& adapter = plan.adapter;
  if (adapter.kind.value == Adapter::none) return {};
  if (const std::string refused = refused_of_mamba(adapter, architecture); !refused.empty()) return refused;
  if (const std::string refused = refused_of_towers(adapter, architecture); !refused.empty()) return refused;
  const std::vector<std::string>& experts = architecture.expert_names;
  std::vector<std::string> targets = adapter.targets.value;
  spell_out(architecture, adapter.update.value, targets);
  if (experts.size() == 3 && any_names(targets, experts[0]) != any_names(targets, experts[1])) {
    return fmt::format("LoRA on one of {} and {}, which peft refuses, as they are one parameter of the experts,",
                       experts[0], experts[1]);
  }
  if (parameters_of(targets, experts).empty() && adapter.target_parameters.value.empty()) return {};
  if (adapter.dropout.value > 0.0) return "LoRA with dropout on the experts' parameters, which peft refuses,";
  if (adapter.dora.value) return "DoRA on the experts' parameters, which peft refuses,";
  if (adapter.update.value == ParameterUpdate::unknown) return "LoRA on parameters by this version of peft";
  return {};
}

}  // namespace oomplan::estimator
