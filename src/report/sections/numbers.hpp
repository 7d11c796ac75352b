// What some values of a number need, a row each.
#pragma once

#include <string>
#include <vector>

#include "layout.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::report {

/// `number` is what a point is of; the points have `needed`, `at_least` and `fits`.
template <class Point, class Number>
std::string numbers_table(const std::string& number_head, const std::string& needed_head,
                          const std::vector<Point>& points, Number number, const ViewOptions& options) {
  std::vector<Row> rows{{{number_head, true}, {needed_head, true}, {""}}};
  for (Cell& cell : rows.front()) cell.paint = Paint::dim;
  for (const Point& point : points) {
    rows.push_back({{with_separators(point.*number), true},
                    {(point.at_least ? "at least " : "") + oomplan::to_text(point.needed), true},
                    {point.fits ? "fits" : "does not fit", false, point.fits ? Paint::green : Paint::red}});
  }
  return aligned(rows, options.colour);
}

}  // namespace oomplan::report
