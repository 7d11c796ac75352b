// How long rows are, in a few kilobytes whatever their number.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "oomplan/measure/measure.hpp"

namespace oomplan::measure {

/// Counts in bins whose ends are 2 % apart, so that a quantile is within 1 % of the true one. Mean and longest are
/// exact.
class SizeSketch {
 public:
  struct Bin {
    int number = 0;
    std::int64_t count = 0;
  };

  void add(std::int64_t size);
  void add(const SizeSketch& more);
  RowSizes sizes() const;
  /// Those that are not empty, the smallest sizes first.
  std::vector<Bin> bins() const;
  std::int64_t count() const { return count_; }
  std::int64_t sum() const { return sum_; }
  std::int64_t longest() const { return longest_; }
  /// The ends of a bin.
  static double least_in(int bin);
  static double most_in(int bin) { return least_in(bin + 1); }

 private:
  std::int64_t quantile(double share) const;
  std::array<std::int64_t, 2300> bins_{};
  std::int64_t count_ = 0;
  std::int64_t sum_ = 0;
  std::int64_t longest_ = 0;
};

}  // namespace oomplan::measure
