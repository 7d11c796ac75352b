// What LLaMA-Factory does with the model that it loads.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion::llamafactory {

/// As Dialect::suit has it.
void suit(TrainingPlan& plan, const Architecture& model);

}  // namespace oomplan::ingestion::llamafactory
