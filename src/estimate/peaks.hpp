// The highest moments of a timeline.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "oomplan/footprint.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// After event `event` of `stretch`, in the `turn`-th of its repetitions; before a stretch its first event is the next.
struct Moment {
  std::int32_t stretch = 0;
  std::int32_t event = -1;
  std::int64_t turn = 0;
  friend bool operator==(const Moment&, const Moment&) = default;
};

struct Peak {
  Phase phase = Phase::load;
  int step = 0;
  std::int64_t bytes = 0;
  Moment moment{};
  ByBucket by_bucket{};  ///< All that is alive then.
};

struct Peaks {
  std::vector<Peak> phases{};                ///< The highest moment of each phase of each step, in order of time.
  std::array<Peak, bucket_count> buckets{};  ///< For each bucket the moment when it is largest; `bytes` is its alone.
};

/// Of equal moments the first.
Peaks find_peaks(const Timeline& timeline);

}  // namespace oomplan::estimator
