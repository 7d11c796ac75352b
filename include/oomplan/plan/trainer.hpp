// Whose training loop reads a config: the names that `--trainer` takes.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "oomplan/plan/plan.hpp"

namespace oomplan {

/// A trainer by its name. One that is not played makes an answer undecided.
struct TrainerName {
  std::string_view name{};
  std::string_view title{};  ///< As a sentence has it: "TRL SFT".
  bool played = false;
};

/// transformers' own and those of TRL, by the names of their scripts.
inline constexpr auto trainer_names = std::to_array<TrainerName>({
    {"sft", "TRL SFT", true},
    {"trainer", "transformers' Trainer", true},
    {"dpo", "TRL DPO", true},
    {"kto", "TRL KTO", true},
    {"orpo", "TRL ORPO", true},
    {"cpo", "TRL CPO", true},
    {"reward", "TRL reward modelling", true},
    {"grpo", "TRL GRPO", true},
    {"rloo", "TRL RLOO", true},
    {"bco", "TRL BCO"},
    {"distillation", "TRL distillation"},
    {"gkd", "TRL GKD", true},
    {"gmpo", "TRL GMPO"},
    {"gold", "TRL GOLD"},
    {"nash_md", "TRL Nash-MD"},
    {"online_dpo", "TRL online DPO"},
    {"ppo", "TRL PPO"},
    {"prm", "TRL process reward modelling"},
    {"tpo", "TRL TPO"},
    {"xpo", "TRL XPO"},
});

/// Null where nobody is called that.
constexpr const TrainerName* find_trainer(std::string_view name) {
  const auto* found = std::ranges::find(trainer_names, name, &TrainerName::name);
  return found == trainer_names.end() ? nullptr : found;
}

/// What stands in the verdict's line where nothing says whose trainer it is: "as TRL SFT, assumed; say …". Empty where
/// something does.
inline std::string assumed_trainer(const TrainingPlan& plan) {
  const TrainerName* trainer = find_trainer(plan.recipe.trainer.value);
  if (trainer == nullptr || plan.recipe.trainer.origin.kind != Origin::Kind::assumed) return {};
  return "as " + std::string(trainer->title) + ", assumed; say `--trainer dpo` for trl dpo";
}

}  // namespace oomplan
