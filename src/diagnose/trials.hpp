// The batch sizes that a program tried by itself: accelerate's find_executable_batch_size, Lightning's tuner,
// AutoBatch.
#pragma once

#include <optional>

#include "case.hpp"

namespace oomplan::diagnose {

/// What was tried, and how that ended: "batch_trials_went_on", "batch_trials_failed" where the last size failed later,
/// "batch_trials_exhausted" where none was left. None where nothing was tried a second time.
std::optional<Finding> batch_trials(const Case& c);

}  // namespace oomplan::diagnose
