// Facts that a plan can hold and that the estimator does not play yet.
#pragma once

#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion {

/// Adds to plan.unmodelled what the plan asks for and no op plays. A row here goes when its op comes.
void note_unplayed(TrainingPlan& plan);

}  // namespace oomplan::ingestion
