// How long a rollout of GRPO lasts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "oomplan/core/bytes.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan {

/// Its micro-batches: as many as are accumulated, where nothing else is said.
inline std::int64_t batches_of_rollout(const TrainingPlan& plan) {
  const std::int64_t said = plan.recipe.rollout_batches.value;
  return said > 0 ? said : plan.batch.gradient_accumulation_steps.value;
}

/// How many micro-batches are trained on it, at least one (trl: GRPOTrainer._prepare_inputs).
inline std::int64_t trained_on_rollout(const TrainingPlan& plan) {
  const std::int64_t times = std::max<std::int64_t>(plan.recipe.rollout_iterations.value, 1);
  return std::max<std::int64_t>(saturating_mul(batches_of_rollout(plan), times), 1);
}

}  // namespace oomplan
