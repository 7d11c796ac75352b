// Keys of other scripts that set the sizes of a run.
#pragma once

#include "dialect.hpp"

namespace oomplan::ingestion {

/// Notes, as a missing fact (ingest/unused-key) in place of a warning, each key that no version of this framework knows
/// and that sets a length, a batch or a model elsewhere, unless the plan has that value anyway.
void note_foreign_sizes(const Inputs& inputs, const Dialect& dialect, Draft& draft);

}  // namespace oomplan::ingestion
