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

/// Where the highest moment is while weights are decomposed, what cuSOLVER takes decides, which nobody counted, and
/// where the model lies then. `while_loading`: whether it is.
Diagnostics check_init(const TrainingPlan& plan, bool while_loading);

}  // namespace oomplan::estimator
