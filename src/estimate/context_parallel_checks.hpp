// What of context parallelism was not measured, or stops.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// Errors: estimate/unmodelled, estimate/bad-mesh (ranks that do not make equal groups, rows that they cannot share,
/// what accelerate, transformers and torch refuse).
void check_context_parallel(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
