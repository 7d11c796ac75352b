// What of pipeline parallelism was not measured, or stops.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// Errors: estimate/unmodelled, estimate/bad-mesh (ranks that do not make equal groups, what torch refuses).
void check_pipeline(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
