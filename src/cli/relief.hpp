// The fix ladder's answer, for a diagnosis.
#pragma once

#include "answer.hpp"
#include "oomplan/diagnose/evidence.hpp"

namespace oomplan::cli {

/// Where the GPU ran full, the config was estimated on a GPU, and nothing in the log speaks against it: the cheapest
/// fixes that make it fit go to the head of what to do, each with what the run needs after it.
void add_relief(Diagnosis& diagnosis, const Question& question, const Findings& findings, const Document& document);

}  // namespace oomplan::cli
