#include "least_squares.hpp"

#include <algorithm>

namespace oomplan::calibrating {
namespace {

constexpr double rounding = 1e-12;  // what is left of a sum of squares where all of it was taken off

}  // namespace

LineSums::LineSums(std::span<const Point> points) {
  for (const Point& point : points) {
    centre_.x += point.x / static_cast<double>(points.size());
    centre_.y += point.y / static_cast<double>(points.size());
  }
  for (const Point& point : points) count(point, 1);
  whole_ = uu_;
}

void LineSums::count(const Point& point, double times) {
  const double u = point.x - centre_.x;
  const double v = point.y - centre_.y;
  n_ += times;
  u_ += times * u;
  v_ += times * v;
  uu_ += times * u * u;
  uv_ += times * u * v;
}

Line LineSums::line() const {
  if (n_ < 1) return {};
  const double x = centre_.x + u_ / n_;
  const double y = centre_.y + v_ / n_;
  const double spread = uu_ - u_ * u_ / n_;
  const double common = uv_ - u_ * v_ / n_;
  const double squares = spread + n_ * x * x;
  if (spread > rounding * whole_ && spread > rounding * rounding * squares) {
    const double slope = common / spread;
    const double constant = y - slope * x;
    if (slope >= 0 && constant >= 0) return {constant, slope};
  }
  // One of them is 0: what each alone takes off the sum of squares says which.
  const double constant = std::max(y, 0.0);
  const double by_constant = n_ * constant * constant;
  const double product = std::max(common + n_ * x * y, 0.0);
  const double by_slope = squares > 0 ? product * (product / squares) : 0;
  if (by_slope > by_constant * (1 + rounding)) return {0, product / squares};
  return {constant, 0};
}

Line LineSums::line_without(const Point& one) const {
  LineSums others = *this;
  others.count(one, -1);
  return others.line();
}

}  // namespace oomplan::calibrating
