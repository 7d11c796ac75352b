// Memory that the program printed step by step.
#pragma once

#include <cstdint>
#include <vector>

#include "case.hpp"

namespace oomplan::diagnose {

struct SeriesPoint {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
};

/// What the failed rank printed of its memory beside its steps, in order, up to the failure; each step once.
std::vector<SeriesPoint> memory_series(const Case& c);

/// Grows from each print to the next, by a fifth in all, and as fast at the end as before: five prints at least. Memory
/// that only varies with the length of batches, or that warms up, does not.
bool grows(const std::vector<SeriesPoint>& series);

}  // namespace oomplan::diagnose
