// What is in use at one moment of both runs.
#pragma once

#include "differences.hpp"

namespace oomplan::comparing {

/// The moment of the prediction that has of each size what `held` has.
struct Seen {
  SeenMoment moment{};
  std::size_t nearest = 0;  ///< After how many moves of the prediction.
};
Seen seen_moment(const Runs& runs, const Sizes& held);

/// Of the tensors in use, each side at its own moment.
std::vector<ComparedBucket> buckets_of(const Runs& runs, const std::vector<std::uint32_t>& predicted,
                                       const std::vector<std::uint32_t>& observed,
                                       const std::vector<std::optional<std::uint32_t>>& partner);
std::vector<ComparedSize> sizes_at(const Runs& runs, const std::vector<std::uint32_t>& predicted,
                                   const std::vector<std::uint32_t>& observed, std::size_t most);

/// The highest moments of the phases; of the phases that the prediction begins within its first `until` moves, in
/// these.
std::vector<ComparedPhase> phases_of(const Runs& runs, ToldBy by, bool cut, std::size_t until);

}  // namespace oomplan::comparing
