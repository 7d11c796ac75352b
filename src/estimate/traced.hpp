// A played run as PyTorch's memory history would have recorded it.
#pragma once

#include <string>
#include <vector>

#include "oomplan/estimate/allocator.hpp"
#include "oomplan/estimate/traced.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// As snapshot_of() has it.
Result<Snapshot> traced(const Timeline& timeline, const std::vector<std::string>& modules,
                        const AllocatorSettings& settings, Bytes workspace);

}  // namespace oomplan::estimator
