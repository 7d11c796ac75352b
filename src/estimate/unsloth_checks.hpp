// What Unsloth's layers were not run with, or do otherwise than it is played.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// Whether Unsloth leaves the layers to transformers' code, as it rewrites that and torch.compile runs it
/// (FastModel; FastLanguageModel of families that it has no functions for), and they are played.
bool runs_compiled(const TrainingPlan& plan, const Architecture& architecture);

/// What torch.compile makes of layers was looked at where the loss takes more than any of them.
Diagnostics check_compiled_peak(const TrainingPlan& plan, const Architecture& architecture, bool in_loss);

/// Errors: estimate/unmodelled.
void check_unsloth(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors);

}  // namespace oomplan::estimator
