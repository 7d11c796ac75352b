// What of a plan and an architecture is not played, and what no memory holds.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// estimate/unmodelled, estimate/too-long, estimate/too-large; empty where all of it is played.
Diagnostics check(const TrainingPlan& plan, const Architecture& architecture);

/// estimate/too-large, of the rows and their length.
Diagnostic too_large_batch(const TrainingPlan& plan);

}  // namespace oomplan::estimator
