#include "timeline.hpp"

#include <algorithm>
#include <cstdlib>

namespace oomplan::estimator {
namespace {

std::vector<Stretch> cut(const Recorder& r) {
  std::vector<Stretch> out;
  std::size_t next_mark = 0;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(r.events.size()); ++i) {
    const std::int16_t layer = r.events[static_cast<std::size_t>(i)].layer;
    bool begins = out.empty() || out.back().layer != layer;
    for (; next_mark < r.marks.size() && r.marks[next_mark].first <= i; ++next_mark) begins = true;
    if (begins) out.push_back({i, i, layer});
    out.back().end = i + 1;
  }
  return out;
}

}  // namespace

Timeline::Timeline(const Recorder& recorder, const Repetition& repetition)
    : recorder_(recorder), repetition_(repetition), stretches_(cut(recorder)) {}

std::vector<Place> Timeline::places(bool allocations) const {
  std::vector<Place> out(recorder_.storages.size());
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(stretches_.size()); ++s) {
    for (std::int32_t i = at(s).first; i < at(s).end; ++i) {
      const Event& e = recorder_.events[static_cast<std::size_t>(i)];
      if (e.allocates == allocations) out[static_cast<std::size_t>(e.storage)] = {s, i};
    }
  }
  return out;
}

std::int64_t Timeline::event_count() const {
  std::int64_t total = 0;
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(stretches_.size()); ++s) {
    total += times(s) * (at(s).end - at(s).first);
  }
  return total;
}

}  // namespace oomplan::estimator
