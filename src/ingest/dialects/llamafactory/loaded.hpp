// What LLaMA-Factory does with the model that it loads.
#pragma once

#include <optional>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion::llamafactory {

/// Facts of the plan that LLaMA-Factory sets by the architecture, and gaps of what of it is not played; or why it
/// refuses the model.
std::optional<Diagnostic> adapt_to_model(TrainingPlan& plan, const Architecture& model);

}  // namespace oomplan::ingestion::llamafactory
