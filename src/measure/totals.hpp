// What was read, added up.
#pragma once

#include <cstddef>

#include "oomplan/measure/measure.hpp"

namespace oomplan::measure {

inline constexpr std::size_t most_files_listed = 1000;

/// `goes_on`: the first file of `more` is the last one's of `all`, read on. The first most_files_listed files are
/// listed.
void add(ReadTotals& all, const ReadTotals& more, bool goes_on);

}  // namespace oomplan::measure
