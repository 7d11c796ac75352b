// Tables of a page that lists errors with what they mean.
#pragma once

#include <cstddef>
#include <vector>

#include "line.hpp"
#include "wording.hpp"

namespace oomplan::diagnose {

/// Whether line `index` is one of several rows of a Markdown table whose first column has errors, and another explains
/// them: "| Reason | Meaning |". A table of what happened begins with whom it happened to.
bool stands_in_explaining_table(const Wordings& wordings, const std::vector<Line>& lines, std::size_t index);

}  // namespace oomplan::diagnose
