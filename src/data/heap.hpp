// The budget as the last word on C++'s memory: what libraries take that nobody counted.
#pragma once

#include "oomplan/core/bytes.hpp"

namespace oomplan::data {

/// From now on `new` throws std::bad_alloc rather than let the process's resident memory pass the budget. It looks
/// after each quarter of a mebibyte that a thread took, and gives back what malloc keeps before it refuses.
void keep_heap_within(Bytes budget);

/// Whether it refused so far.
bool heap_was_refused();

}  // namespace oomplan::data
