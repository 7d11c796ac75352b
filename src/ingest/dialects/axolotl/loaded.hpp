// What Axolotl does with the model that it loads.
#pragma once

#include <optional>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion::axolotl {

/// Facts of the plan that Axolotl sets by the architecture, and gaps of what of it is not played; or why it refuses the
/// model.
std::optional<Diagnostic> adapt_to_model(TrainingPlan& plan, const Architecture& model);

/// What it makes of a model that the checkpoint has quantized.
std::optional<Diagnostic> take_quantized(TrainingPlan& plan, Quantization asked);

}  // namespace oomplan::ingestion::axolotl
