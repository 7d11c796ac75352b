// What stands in the way of an answer, on one screen.
#pragma once

#include <cstddef>
#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan::cli {

/// Where reasons are shown, and what shows those that have no room.
struct ReasonsPlace {
  std::string config{};
  std::size_t width = usual_width;
  std::size_t lines = screen_lines;  ///< That are left.
  bool all = false;                  ///< However many lines they take.
  std::string rest = "`oomplan estimate` with --all";
};

/// Why it cannot be decided: each reason with its line and a caret where that has room, else grouped by their codes,
/// each told once, with their places.
std::string reasons_text(const Diagnostics& problems, const ReasonsPlace& place);

/// The same where that is the verdict of the problems, else each as it is.
std::string refusal_text(const Diagnostics& problems, const ReasonsPlace& place);

}  // namespace oomplan::cli
