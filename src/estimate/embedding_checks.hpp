// What of sentence-transformers' trainer no run was held against.
#pragma once

#include "facts.hpp"

namespace oomplan::estimator {

void check_embeddings(const TrainingPlan& plan, Diagnostics& errors);

}  // namespace oomplan::estimator
