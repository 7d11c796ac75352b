// What tests ask of a recorded run, each in one call.
#pragma once

#include <vector>

#include "lifetimes.hpp"
#include "peaks.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

/// A peak and all that is alive then.
struct FullPeak : Peak {
  ByBucket by_bucket{};
};

inline std::vector<FullPeak> peaks(const Recorder& recorder, const Repetition& repetition) {
  const Timeline timeline(recorder, repetition);
  const Peaks found(timeline);
  std::vector<FullPeak> out;
  for (const Peak& p : found.of_phases()) out.push_back({p, found.at(p.moment)});
  return out;
}

inline std::vector<Peak> bucket_peaks(const Recorder& recorder, const Repetition& repetition) {
  const Timeline timeline(recorder, repetition);
  const Peaks found(timeline);
  return {found.of_buckets().begin(), found.of_buckets().end()};
}

inline std::vector<Live> alive_at(const Recorder& recorder, const Repetition& repetition, const Peak& peak) {
  const Timeline timeline(recorder, repetition);
  return Lifetimes(timeline).alive_at(peak.moment);
}

inline std::int64_t event_count(const Recorder& recorder, const Repetition& repetition) {
  const Timeline timeline(recorder, repetition);
  std::int64_t total = 0;
  for (std::int32_t s = 0; s < std::ssize(timeline.stretches()); ++s)
    total += timeline.times(s) * (timeline.at(s).end - timeline.at(s).first);
  return total;
}

inline bool repeats_exactly(const Recorder& recorder, const Repetition& repetition) {
  return repeats_exactly(Timeline(recorder, repetition));
}

}  // namespace oomplan::estimator
