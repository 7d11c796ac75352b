// What Axolotl does with the model that it loads.
#pragma once

#include <optional>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion::axolotl {

/// As Dialect::suit has it.
std::optional<Diagnostic> suit(TrainingPlan& plan, const Architecture& model);

}  // namespace oomplan::ingestion::axolotl
