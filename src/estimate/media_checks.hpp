// Which pictures and sounds in a run's rows are played; part of check().
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

void check_images(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
