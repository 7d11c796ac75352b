// Changes to sources: a patch, and what `git log` shows of one.
#pragma once

#include <cstddef>
#include <vector>

#include "line.hpp"

namespace oomplan::diagnose {

/// Whether line `index` is of a patch's hunk (below "@@ -12,7 +12,7 @@"), or of the message of a commit, which stands
/// indented below its author and date.
bool stands_in_change(const std::vector<Line>& lines, std::size_t index);

}  // namespace oomplan::diagnose
