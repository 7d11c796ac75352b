// What a config leaves to the model.
#include <algorithm>
#include <optional>

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

// trl 1.16.0: SFTTrainer.__init__ refuses a coefficient other than 0 where the model's config has no
// output_router_logits, and no architecture that is played has it.
std::optional<Diagnostic> refused_by_dense(const TrainingPlan& plan, const std::string& model_type) {
  constexpr std::string_view key = "router_aux_loss_coef";
  const auto found = std::ranges::find(plan.unmodelled, key, &Unmodelled::key);
  if (found == plan.unmodelled.end() || plan.recipe.trainer.value != "sft") return std::nullopt;
  return Diagnostic{
      Severity::error,
      "ingest/refused",
      std::string(key) + ": trl 1.16.0 refuses it where the model (" + model_type + ") is no mixture of experts",
      found->where,
      {},
      {}};
}

}  // namespace

Result<TrainingPlan> settle(TrainingPlan plan, const std::string& model_type) {
  if (std::optional<Diagnostic> refused = refused_by_dense(plan, model_type)) return *std::move(refused);
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
