// Whether a line stands on a page of help, or in a list of changes, which name failures that did not happen.
#pragma once

#include <cstddef>
#include <vector>

#include "line.hpp"

namespace oomplan::diagnose {

/// Below a heading such as "## Troubleshooting" or "FAQ", and nothing between them that a program wrote or that
/// somebody tells of a run of his own.
bool stands_on_page_of_help(const std::vector<Line>& lines, std::size_t index);

/// In a list of what was changed in a program: an item below the heading of a release ("## 1.2.3", "### Fixed"), or one
/// of three lines and more of `git log --oneline`. It names failures that were repaired.
bool stands_in_history(const std::vector<Line>& lines, std::size_t index);

}  // namespace oomplan::diagnose
