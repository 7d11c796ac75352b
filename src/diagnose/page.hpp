// Whether a line stands on a page of help, which shows the messages of failures that did not happen.
#pragma once

#include <cstddef>
#include <vector>

#include "line.hpp"

namespace oomplan::diagnose {

/// Below a heading such as "## Troubleshooting" or "FAQ", and nothing between them that a program wrote or that
/// somebody tells of a run of his own.
bool stands_on_page_of_help(const std::vector<Line>& lines, std::size_t index);

}  // namespace oomplan::diagnose
