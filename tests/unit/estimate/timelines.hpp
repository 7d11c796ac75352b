// A recorded run's peaks and what is alive at them, for the tests of the timeline.
#pragma once

#include <vector>

#include "lifetimes.hpp"
#include "peaks.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

inline std::vector<Peak> phase_peaks(const Recorder& r, const Repetition& repetition) {
  return find_peaks({r, repetition}).phases;
}

inline std::vector<Peak> bucket_peaks(const Recorder& r, const Repetition& repetition) {
  const Peaks peaks = find_peaks({r, repetition});
  return {peaks.buckets.begin(), peaks.buckets.end()};
}

inline std::vector<Live> alive_at(const Recorder& r, const Repetition& repetition, const Moment& moment) {
  const Timeline timeline(r, repetition);
  return Lifetimes(timeline).alive_at(moment);
}

inline bool repeats(const Recorder& r, const Repetition& repetition) { return repeats_exactly({r, repetition}); }

inline std::int64_t event_count(const Recorder& r, const Repetition& repetition) {
  return Timeline(r, repetition).event_count();
}

}  // namespace oomplan::estimator
