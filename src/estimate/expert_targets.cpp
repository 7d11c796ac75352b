#include "expert_targets.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace oomplan::estimator {
namespace {

constexpr std::string_view all_linear = "all-linear";

bool names(const std::string& target, const std::string& name) {
  return target == name || target.ends_with("." + name);
}

bool asked(const std::vector<std::string>& targets, const std::string& name) {
  return std::ranges::any_of(targets, [&](const std::string& t) { return t == all_linear || names(t, name); });
}

/// The parameters that these targets come to, where the family has gate, up and down under `expert_names`.
std::vector<std::string> parameters_of(const std::vector<std::string>& targets,
                                       const std::vector<std::string>& expert_names) {
  std::vector<std::string> out;
  if (expert_names.size() != 3) return out;
  if (asked(targets, "gate")) out.emplace_back("gate.weight");
  if (asked(targets, expert_names[0])) out.emplace_back("gate_up_proj");
  if (asked(targets, expert_names[2])) out.emplace_back("down_proj");
  return out;
}

}  // namespace

void name_experts(const Architecture& architecture, Facts& facts) {
  const std::vector<std::string>& experts = architecture.expert_names;
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
  const std::vector<std::string>& experts = architecture.expert_names;
  const std::vector<std::string>& targets = adapter.targets.value;
  if (adapter.kind.value == Adapter::none) return {};
  const bool made = !parameters_of(targets, experts).empty();
  if (experts.size() == 3 && asked(targets, experts[0]) != asked(targets, experts[1])) {
    return fmt::format("LoRA on one of {} and {}, which peft refuses, as they are one parameter of the experts,",
                       experts[0], experts[1]);
  }
  if (!made && adapter.target_parameters.value.empty()) return {};
  if (adapter.dropout.value > 0.0) return "LoRA with dropout on the experts' parameters, which peft refuses,";
  if (adapter.dora.value) return "DoRA on the experts' parameters, which peft refuses,";
  if (!adapter.folded_update.value) return "LoRA on the experts' parameters as peft before 0.21 has it";
  return {};
}

}  // namespace oomplan::estimator
