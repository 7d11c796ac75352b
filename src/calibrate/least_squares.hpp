// A line by least squares whose coefficients are not negative.
#pragma once

#include <span>

namespace oomplan::calibrating {

struct Point {
  double x = 0;
  double y = 0;
};

/// y = constant + slope * x.
struct Line {
  double constant = 0;
  double slope = 0;
};

/// The sums that a line is fitted from, so that one point is left out of them in constant time. With two coefficients
/// each choice of those that are not zero is tried, and the answer is exact (C. L. Lawson and R. J. Hanson, Solving
/// Least Squares Problems, 1974, chapter 23, finds the same choice by search).
class LineSums {
 public:
  explicit LineSums(std::span<const Point> points);

  /// The nearest line; where all x are alike the constant alone. 0 and 0 of no points.
  Line line() const;
  /// That of all points but `one` of them.
  Line line_without(const Point& one) const;

 private:
  void count(const Point& point, double times);

  Point centre_{};  // the sums are of the distance from it, which keeps their digits
  double n_ = 0;
  double u_ = 0;
  double v_ = 0;
  double uu_ = 0;
  double uv_ = 0;
  double whole_ = 0;  // uu_ of all points
};

}  // namespace oomplan::calibrating
