// What of a mesh can be played, and with what.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// Errors: estimate/unmodelled (what was held against no truth), estimate/bad-mesh (sizes that do not go together, what
/// the framework refuses).
void check_mesh(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
