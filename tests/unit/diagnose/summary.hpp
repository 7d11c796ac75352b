// A diagnosis in a few lines, for the corpus in tests/data/diagnose.
#pragma once

#include <string>

#include "oomplan/diagnose/evidence.hpp"

namespace oomplan::diagnose {

/// "vram_exhausted proved, oom, gpu, loss after step 12, rank 3 <- pytorch/oom-2.1 line 4"
std::string in_one_line(const Diagnosis& d);

/// That, and all that is said of it: reasons, arithmetic, facts, findings, fixes, questions, other causes, other lines.
std::string in_full(const Diagnosis& d);

}  // namespace oomplan::diagnose
