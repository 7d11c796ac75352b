// Fixes in a table: what is needed after each, what it saves and of what, how much slower a step becomes, and whether
// the results change.
#pragma once

#include <string>
#include <vector>

#include "../layout.hpp"
#include "oomplan/advise/advice.hpp"

namespace oomplan::report {

/// "gradient-checkpointing", "micro-batch x2".
std::string taken_text(const Taken& taken);

/// "20-33 %", "no"; "?" where nobody measured it.
std::string slower_text(const LadderFix& fix);

/// The columns, above rows of rung_row.
Row rung_heads();
/// `fix` is null of the plan as it is. What is saved is by the tensors beside those of `before`.
Row rung_row(const std::string& name, const Trial& trial, const LadderFix* fix, const Trial& before);

}  // namespace oomplan::report
