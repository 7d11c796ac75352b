// A model that another one learns from: of an architecture of its own, loaded as its config says and never trained.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// The plan of which a teacher's facts are.
TrainingPlan plan_of_teacher(TrainingPlan plan);

/// Adds what of distillation is not played: estimate/unmodelled.
void check_distillation(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
