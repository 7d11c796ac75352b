// The rows of a model's vocabulary, where a config adds tokens.
#pragma once

#include <optional>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion {

/// Makes of plan.new_tokens the vocabulary that the embeddings are enlarged to, or why the framework stops at them.
/// Tokens that the tokenizer may have, of which nothing says so, are counted as new, which is assumed.
std::optional<Diagnostic> enlarge_vocabulary(TrainingPlan& plan, const Architecture& model);

}  // namespace oomplan::ingestion
