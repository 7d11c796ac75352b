// What the costs of all layouts are made of (docs/planner.md).
#pragma once

#include <cstdint>

#include "oomplan/survey/layouts.hpp"

namespace oomplan::survey {

// What runs reach of what datasheets print: 38 to 43 % of the operations (arXiv 2407.21783, table 4). That of links is
// assumed.
inline constexpr double reached_of_operations = 0.4;
inline constexpr double reached_of_links = 0.8;
inline constexpr double giga = 1e9;
inline constexpr double tera = 1e12;

/// What one element takes as it is moved.
struct Moved {
  double frozen =
      0;  ///< Of a weight that is not trained; 0 where each rank has the whole of it (4-bit weights in bytes).
  double trained = 0;
  double gradient = 0;
};

Moved moved_of(const TrainingPlan& plan, const Counted& parameters);

/// The part of a tensor that a rank has from the others.
inline double part_of_others(std::int64_t ranks) { return 1 - 1 / static_cast<double>(ranks); }

}  // namespace oomplan::survey
