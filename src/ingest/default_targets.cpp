// What a config leaves to the model.
#include <algorithm>

#include "oomplan/ingest.hpp"
#include "stack.hpp"

namespace oomplan {
namespace {

Diagnostic no_default(const std::string& model_type) {
  return {Severity::error,
          "ingest/missing-fact",
          "no LoRA targets are given, and oomplan knows no default of peft for " + model_type,
          {},
          "give the framework's key for target modules, or --set plan.lora_targets=[…]",
          {}};
}

}  // namespace

Result<TrainingPlan> with_default_targets(TrainingPlan plan, const std::string& model_type) {
  auto& targets = plan.adapter.targets;
  if (plan.adapter.kind.value == Adapter::none || targets.value != std::vector<std::string>{"peft-default"})
    return plan;
  const ingestion::Stack& peft = ingestion::stack_of("peft-0.21");
  const auto& by_type = peft.layers().front().targets;
  const auto found = std::ranges::find(by_type, model_type, [](const auto& row) { return row.first; });
  if (found == by_type.end()) return no_default(model_type);
  targets = {found->second, peft.origin("peft", "target modules of " + model_type)};
  return plan;
}

}  // namespace oomplan
