// The first set of fixes, in an order of costs, that makes a plan fit.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "change.hpp"
#include "judge.hpp"

namespace oomplan::advise {

/// What is looked for.
struct Wish {
  std::vector<int> rungs{};     ///< To take from, by their places in the ladder.
  bool speed_first = false;     ///< Slowdown counts before science.
  bool stranded = false;        ///< The plan as it is would fit but for fragmentation.
  std::optional<Cost> below{};  ///< Only what costs less in that order.
  std::int64_t most_sets = 0;   ///< To look at before giving up.
  std::int64_t first_sets = 0;  ///< After so many `goes_on` is asked, once, whether to go on.
  std::function<bool()> goes_on{};
};

struct FoundSet {
  Choices choices{};
  Change change{};
  Trial trial{};
};

struct Searched {
  std::optional<FoundSet> found{};
  std::int64_t sets = 0;  ///< How many were looked at.
  bool whole = true;      ///< False: there are more than `most_sets`.
};

/// Sets from the cheapest on; none that could fit is passed over, so that no cheaper one does.
Searched search(const Wish& wish, const AdviceQuestion& question, const Ladder& ladder);

}  // namespace oomplan::advise
