// The ranks that train one model.
#pragma once

#include "oomplan/plan.hpp"

namespace oomplan::ingestion {

/// What neither a config nor --set says of the mesh. It follows `ranks`, which --set may have changed.
void settle_mesh(TrainingPlan& plan);

}  // namespace oomplan::ingestion
