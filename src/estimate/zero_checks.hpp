// What of DeepSpeed's ZeRO can be played, and with what.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// Errors as those of check_mesh.
void check_zero(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
