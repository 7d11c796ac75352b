// Weights that the checkpoint of the model has quantized already.
#pragma once

#include <optional>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion {

/// Whether some layer of the model is a mixture of experts.
bool has_experts(const Architecture& model);

/// Puts what the checkpoint is quantized in over what the config asks for, as transformers' from_pretrained does, and
/// what the framework's trainers make of a quantized model; or says why the framework refuses it, or what it needs to
/// be told. What nobody ran goes to plan.unmodelled. Source: transformers/quantizers/auto.py,
/// merge_quantization_configs.
std::optional<Diagnostic> take_quantized_checkpoint(TrainingPlan& plan, const Architecture& model);

}  // namespace oomplan::ingestion
