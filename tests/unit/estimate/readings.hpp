// What tests ask of a recorded run, each in one call.
#pragma once

#include <vector>

#include "lifetimes.hpp"
#include "peaks.hpp"
#include "timeline.hpp"

namespace oomplan::estimator {

inline std::vector<Peak> peaks(const Recorder& recorder, const Repetition& repetition) {
  return find_peaks(Timeline(recorder, repetition)).phases;
}

inline std::vector<Peak> bucket_peaks(const Recorder& recorder, const Repetition& repetition) {
  const Peaks found = find_peaks(Timeline(recorder, repetition));
  return {found.buckets.begin(), found.buckets.end()};
}

inline std::vector<Live> alive_at(const Recorder& recorder, const Repetition& repetition, const Peak& peak) {
  const Timeline timeline(recorder, repetition);
  return Lifetimes(timeline).alive_at(peak.moment);
}

inline std::int64_t event_count(const Recorder& recorder, const Repetition& repetition) {
  return Timeline(recorder, repetition).event_count();
}

inline bool repeats_exactly(const Recorder& recorder, const Repetition& repetition) {
  return repeats_exactly(Timeline(recorder, repetition));
}

}  // namespace oomplan::estimator
