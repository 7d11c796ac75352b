// What of adapters is not played; part of check().
#pragma once

#include <string_view>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// As its authors write it.
std::string_view title_of(Adapter kind);

/// Kinds other than LoRA, and initialisations that decompose weights, where no run was held against them.
void check_adapter(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

/// What cuSOLVER takes to decompose a weight is not counted, nor is it known whether the model is on the GPU by then.
/// That matters where the run's highest moment is `while_loading`: an error then.
Diagnostics check_init(const TrainingPlan& plan, bool while_loading);

}  // namespace oomplan::estimator
