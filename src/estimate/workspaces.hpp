// cuBLAS's workspaces among a run's events.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "oomplan/estimate/reservation.hpp"

namespace oomplan::estimator {

/// No slot is as high: of a run without workspaces.
inline constexpr std::uint32_t no_workspace = std::numeric_limits<std::uint32_t>::max();

/// Puts the allocation of each workspace before the event that needs it. Their slots are all those from the one that it
/// gives on.
std::uint32_t add_workspaces(const Workspaces& workspaces, std::vector<oomplan::Event>& events);

}  // namespace oomplan::estimator
