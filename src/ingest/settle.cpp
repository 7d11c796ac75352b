// What a config leaves to the model.
#include <algorithm>
#include <array>
#include <string_view>

#include "oomplan/ingest.hpp"

namespace oomplan {
namespace {

struct Targets {
  std::string_view model_type{};
  std::array<std::string_view, 2> modules{};
};

// peft 0.21.2: utils/constants.py, TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING.
constexpr std::array peft_targets{
    Targets{"bert", {"query", "value"}},    Targets{"gpt2", {"c_attn"}},
    Targets{"llama", {"q_proj", "v_proj"}}, Targets{"mistral", {"q_proj", "v_proj"}},
    Targets{"qwen2", {"q_proj", "v_proj"}}, Targets{"qwen3", {"q_proj", "v_proj"}},
    Targets{"roberta", {"query", "value"}},
};

Diagnostic no_default(const std::string& model_type) {
  return {Severity::error,
          "ingest/missing-fact",
          "no LoRA targets are given, and oomplan knows no default of peft for " + model_type,
          {},
          "give the framework's key for target modules, or --set plan.lora_targets=[…]",
          {}};
}

}  // namespace

Result<TrainingPlan> settle(TrainingPlan plan, const std::string& model_type) {
  auto& targets = plan.adapter.targets;
  if (plan.adapter.kind.value == Adapter::none || targets.value != std::vector<std::string>{"peft-default"})
    return plan;
  const auto* found = std::ranges::find(peft_targets, model_type, &Targets::model_type);
  if (found == peft_targets.end()) return no_default(model_type);
  targets.value.clear();
  for (const std::string_view module : found->modules) {
    if (!module.empty()) targets.value.emplace_back(module);
  }
  targets.origin = {Origin::Kind::framework_default, "peft 0.21.2: target modules of " + model_type, {}};
  return plan;
}

}  // namespace oomplan
