// Estimates from draws of blocks, with their 95 % intervals.
#pragma once

#include <vector>

#include "oomplan/measure/measure.hpp"

namespace oomplan::measure {

/// One draw: what a block has of two things, each by the block's chance to be drawn (Hansen and Hurwitz 1943).
struct Drawn {
  double above = 0;
  double below = 0;
};

/// How many times the one is the other in the whole, by Student's t over the jackknife's error. Two draws at least.
Estimate ratio_of(const std::vector<Drawn>& draws);

/// The 97.5 % quantile of Student's t.
double student_t(std::size_t degrees_of_freedom);

}  // namespace oomplan::measure
