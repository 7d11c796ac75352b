// How long rows are, in a few kilobytes whatever their number.
#pragma once

#include <array>
#include <cstdint>

#include "oomplan/measure.hpp"

namespace oomplan::measure {

/// Counts in bins whose ends are 2 % apart, so that a quantile is within 1 % of the true one. Mean and longest are
/// exact.
class SizeSketch {
 public:
  void add(std::int64_t size);
  RowSizes sizes() const;

 private:
  std::int64_t quantile(double share) const;
  std::array<std::int64_t, 2300> bins_{};
  std::int64_t count_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t longest_ = 0;
};

}  // namespace oomplan::measure
