// Language modelling: one model and its loss (transformers' Trainer, TRL's SFTTrainer, Axolotl).
#include <array>

#include "recipe.hpp"

namespace oomplan::estimator::recipes {
namespace {

std::span<const Role> roles(const TrainingPlan& /*plan*/) {
  static constexpr std::array only{Role::policy};
  return only;
}

void micro_batch(Stage& stage) {
  stage.begin(Phase::between);
  Stream s = stage.batch(stage.facts());
  stage.begin(Phase::forward);
  stage.call(Role::policy, stage.facts(), *stage.facts().objective, s);
  if (!stage.plan().recipe.outputs_kept.value) s.logits.reset();
  stage.backward(s);
  stage.begin(Phase::between);
}

/// Trainer.prediction_step.
void evaluate(Stage& stage) {
  const Facts facts = stage.evaluation_facts();
  stage.without_training([&] {
    stage.begin(Phase::evaluation);
    Stream s = stage.batch(facts);
    stage.call(Role::policy, facts, *facts.evaluation_objective, s);
  });
}

}  // namespace

extern const Recipe supervised;
const Recipe supervised{"supervised", roles, micro_batch, nullptr, evaluate};

}  // namespace oomplan::estimator::recipes
