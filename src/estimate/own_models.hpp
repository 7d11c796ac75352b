// What frameworks with models of their own do with them.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// What of torchtune's and litgpt's own models no run was held against, also where no key of a config asks for it.
void check_own_models(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
