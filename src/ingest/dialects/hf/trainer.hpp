// Whose trainer reads a Hugging Face config.
#pragma once

#include "../../dialect.hpp"
#include "keys.hpp"

namespace oomplan::ingestion::hf {

/// As the file, the command line or the launch command says it; else by a key that only one of them has; else SFT,
/// assumed. Keys of two that exclude each other are a missing fact (ingest/ambiguous-trainer).
Setting<std::string> trainer_of(const Arguments& hf, const Inputs& inputs, Draft& draft);

/// Notes, as a missing fact (ingest/unused-key), each key that sets the rows' length or their packing and that this
/// trainer does not read, unless its rows are of that `length` anyway.
void note_unused(const Inputs& inputs, bool sft, std::int64_t length, Draft& draft);

}  // namespace oomplan::ingestion::hf
