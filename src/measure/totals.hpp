// What was read, added up.
#pragma once

#include "oomplan/measure.hpp"

namespace oomplan::measure {

/// `goes_on`: the first file of `more` is the last one's of `all`, read on. The first thousand files are listed.
void add(ReadTotals& all, const ReadTotals& more, bool goes_on);

}  // namespace oomplan::measure
