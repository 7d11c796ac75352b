// Tables of a page that lists errors with what they mean.
#pragma once

#include <cstddef>
#include <vector>

#include "line.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {

/// Whether line `index` is one of several rows of a Markdown table that has a column of errors and one that explains
/// them: "| Reason | Meaning |". A table of what happened has one, or neither.
bool stands_in_explaining_table(const Wordings& wordings, const std::vector<Line>& lines, std::size_t index);

}  // namespace oomplan::diagnose
