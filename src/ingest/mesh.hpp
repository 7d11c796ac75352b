// The ranks that train one model.
#pragma once

#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion {

/// What of the mesh follows from other facts, which --set may have changed: a world as large as `ranks`.
void finish_mesh(TrainingPlan& plan);

}  // namespace oomplan::ingestion
