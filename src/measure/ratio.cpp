#include <algorithm>
#include <cmath>

#include "sample.hpp"

namespace oomplan::measure {

/// Cornish and Fisher's expansion around the normal quantile: within 1 % from 5 degrees on.
double student_t(std::size_t degrees_of_freedom) {
  constexpr double z = 1.959963985;
  const auto n = static_cast<double>(degrees_of_freedom);
  const double z3 = z * z * z;
  const double z5 = z3 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z5 * z * z + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

Estimate ratio_of(const std::vector<Drawn>& draws) {
  Drawn sum;
  for (const Drawn& draw : draws) sum.above += draw.above, sum.below += draw.below;
  const auto without = [&](const Drawn& draw) {
    const double below = sum.below - draw.below;
    return below > 0 ? (sum.above - draw.above) / below : 0;
  };
  const auto n = static_cast<double>(draws.size());
  double mean = 0;
  double squares = 0;
  for (const Drawn& draw : draws) mean += without(draw) / n;
  for (const Drawn& draw : draws) squares += std::pow(without(draw) - mean, 2);
  const double error = std::sqrt((n - 1) / n * squares) * student_t(draws.size() - 1);
  const double value = sum.below > 0 ? sum.above / sum.below : 0;
  return {value, std::max(value - error, 0.0), value + error};
}

}  // namespace oomplan::measure
