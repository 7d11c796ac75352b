// The set of fixes that is come to by taking what lowers the plan most, again and again.
#pragma once

#include <vector>

#include "search.hpp"

namespace oomplan::advise {

/// From the plan as it is the fix that lowers its highest phases most, of equal ones the cheaper, until the set fits or
/// no fix lowers it. The set keeps only the fixes that it needs to fit, or where it does not those that lower its
/// highest phase by more than a fiftieth; the dearest are let go first. Some hundred plans are estimated; no set is
/// shown to be the cheapest, nor the one that needs least. Nothing where no fix lowers the plan.
std::optional<FoundSet> descend(const std::vector<int>& rungs, const AdviceQuestion& question, const Ladder& ladder);

}  // namespace oomplan::advise
