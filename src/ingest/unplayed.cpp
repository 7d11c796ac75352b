#include <algorithm>

#include "oomplan/core/pattern.hpp"
#include "oomplan/plan/trainer.hpp"
#include "steps.hpp"

namespace oomplan::ingestion {
namespace {

// One is matched against the modules' full names; in a list of names peft takes it for a name.
bool is_played(const std::vector<std::string>& targets) {
  return std::ranges::all_of(targets, is_module_name) || (targets.size() == 1 && Pattern::parse(targets.front()));
}

// A key that asks for this training may have been noted by its dialect already.
void note_trainer(TrainingPlan& plan) {
  const TrainerName* trainer = find_trainer(plan.recipe.trainer.value);
  const bool own = plan.recipe.trainer.value == "sft" || plan.recipe.trainer.value == "trainer";
  const bool other = !own && plan.recipe.kind.value == RecipeKind::supervised;
  if (trainer == nullptr || (trainer->played && !other)) return;
  const Origin& origin = plan.recipe.trainer.origin;
  const std::string key = origin.kind == Origin::Kind::config ? origin.source : "trainer";
  if (std::ranges::count(plan.unmodelled, key, &Unmodelled::key) > 0) return;
  plan.unmodelled.push_back({std::string(trainer->title) + " training", key, origin.where});
}

}  // namespace

void note_unplayed(TrainingPlan& plan) {
  note_trainer(plan);
  const auto& targets = plan.adapter.targets;
  if (plan.adapter.kind.value == Adapter::none || is_played(targets.value)) return;
  plan.unmodelled.push_back({"LoRA targets by a regular expression", "lora_targets", targets.origin.where});
}

}  // namespace oomplan::ingestion
