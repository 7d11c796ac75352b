// From a plan and an architecture to what the modules need.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// Errors: estimate/unmodelled, estimate/too-long, estimate/too-large.
Result<Facts> resolve(const TrainingPlan& plan, const Architecture& architecture);

/// What the model is loaded in.
DType loaded_dtype(const TrainingPlan& plan, const Architecture& architecture);

Task task_of(const TrainingPlan& plan, const Architecture& architecture);

/// The loss that is played: null where there is none for what the model is trained for.
const Objective* objective_of(const TrainingPlan& plan, const Architecture& architecture);

}  // namespace oomplan::estimator
