// From a plan and an architecture to what the modules need.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// Errors: estimate/unmodelled, estimate/too-long, estimate/too-large.
Result<Facts> resolve(const TrainingPlan& plan, const Architecture& architecture);

/// estimate/too-large, of the rows and their length.
Diagnostic too_large_batch(const TrainingPlan& plan);

}  // namespace oomplan::estimator
