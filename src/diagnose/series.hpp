// Memory that the program printed step by step.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "case.hpp"

namespace oomplan::diagnose {

struct SeriesPoint {
  std::int64_t step = 0;  ///< Or the print's number, where no steps are counted.
  std::int64_t bytes = 0;
};

struct Series {
  std::vector<SeriesPoint> points{};
  bool has_steps = true;

  std::string_view unit() const { return has_steps ? "step" : "print"; }
};

/// What the failed rank printed under that name, in order, up to the failure: "step_memory" is what is allocated,
/// "step_peak" the most so far, "step_reserved" what PyTorch's cache holds as well, "step_rss" the host's.
Series memory_series(const Case& c, std::string_view name);

/// Grows from each print to the next, by a fifth in all, and as fast at the end as before: five prints at least. Memory
/// that only varies with the length of batches, or that warms up, does not.
bool grows(const Series& series);
/// And that by about as much in each step: each print within a quarter of the mean.
bool grows_evenly(const Series& series);

/// "10.1 GiB at step 100, 22.2 GiB at step 700".
std::string ends_of(const Series& series);

}  // namespace oomplan::diagnose
