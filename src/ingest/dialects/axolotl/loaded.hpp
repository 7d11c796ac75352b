// What Axolotl does with the model that it loads.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion::axolotl {

/// As Dialect::suit has it.
void suit(TrainingPlan& plan, const Architecture& model);

}  // namespace oomplan::ingestion::axolotl
