// What the frameworks refuse together.
#pragma once

#include "../../dialect.hpp"
#include "keys.hpp"

namespace oomplan::ingestion::hf {

/// Errors: ingest/conflict, for what TrainingArguments, ModelConfig or TRL's SFTTrainer stop at before a step is made.
void check_refused(const Arguments& hf, const Inputs& inputs, bool sft, Draft& draft, const Document& document);

}  // namespace oomplan::ingestion::hf
