// A step's memory over time, read off a played run.
#pragma once

#include <string>
#include <vector>

#include "oomplan/estimate/curve.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// At most `most` moments of the step that reaches highest.
Curve curve_of(const Timeline& timeline, const std::vector<std::string>& modules, std::size_t most);

}  // namespace oomplan::estimator
