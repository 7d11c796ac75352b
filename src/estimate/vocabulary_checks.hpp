// Which enlarged vocabularies are played; part of check().
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

void check_vocabulary(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
