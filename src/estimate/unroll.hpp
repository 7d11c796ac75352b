// Every allocation and free of a run in order, all of its blocks counted: what an allocator is replayed on.
#pragma once

#include <cstdint>
#include <vector>

#include "timeline.hpp"

namespace oomplan::estimator {

/// Events from `first` on belong to this phase of this step.
struct UnrolledMark {
  std::int64_t first = 0;
  Phase phase = Phase::load;
  int step = 0;
  friend bool operator==(const UnrolledMark&, const UnrolledMark&) = default;
};

/// A run as a list of events. A storage is a number from 0 on, in order of birth; empty ones are left out.
struct Unrolled {
  std::vector<std::int64_t> bytes{};   ///< Of each storage.
  std::vector<std::int32_t> events{};  ///< n: storage n is allocated; ~n: it is freed.
  std::vector<UnrolledMark> marks{};
};

/// Equal to what playing every block would have written down, where repeats_exactly(timeline).
Unrolled unroll(const Timeline& timeline);

}  // namespace oomplan::estimator
