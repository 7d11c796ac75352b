// A step's memory over time, read off a played run.
#pragma once

#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/estimate/allocator.hpp"
#include "oomplan/estimate/curve.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// At most `most` moments of the step that reaches highest. Error: estimate/too-large, where the allocator is not
/// played on a card that large.
Result<Curve> curve_of(const Timeline& timeline, const std::vector<std::string>& modules,
                       const AllocatorSettings& settings, Bytes workspace, std::size_t most);

}  // namespace oomplan::estimator
