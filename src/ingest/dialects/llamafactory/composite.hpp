// LLaMA-Factory's models of parts: which of them it freezes, and which carry LoRA (llamafactory 0.9.5:
// model/model_utils/visual.py, model/model_utils/misc.py, model/adapter.py).
#pragma once

#include <string>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion::llamafactory {

/// Parts of the names of parameters that are frozen of any model of parts, where its tower or its projector is.
std::vector<std::string> frozen_parts(bool tower, bool projector);

/// Narrows recipe.frozen to this model's parts, and the LoRA targets to the modules that it finds; gaps where that is
/// not played. A model without a tower has no such parts.
void plan_parts(TrainingPlan& plan, const Architecture& model);

}  // namespace oomplan::ingestion::llamafactory
