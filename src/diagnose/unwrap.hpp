// Lines that a terminal or an editor broke at a column are put together again.
#pragma once

#include <vector>

#include "line.hpp"

namespace oomplan::diagnose {

/// Where no line of a file is longer than one column and several end exactly there, what ends there goes on in the next
/// line, unless that begins with a prefix or a frame of its own. A line so joined keeps the number of its first piece
/// and has a
/// '\n' where it was broken.
void unwrap(std::vector<Line>& lines);

}  // namespace oomplan::diagnose
