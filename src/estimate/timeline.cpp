#include "timeline.hpp"

#include <utility>

namespace oomplan::estimator {
namespace {

std::vector<Stretch> cut(const Recorder& r, const Repetition& repetition) {
  std::vector<Stretch> out;
  const auto end = static_cast<std::int32_t>(r.events.size());
  auto mark = r.marks.begin();
  for (std::int32_t first = 0; first < end; first = out.back().end) {
    while (mark != r.marks.end() && mark->first <= first) ++mark;
    const std::int32_t limit = mark == r.marks.end() ? end : mark->first;
    const Event* event = &r.events[static_cast<std::size_t>(first)];
    std::int16_t layer = event->layer;
    const int unit = repetition.unit_of(layer);
    std::int32_t next = first;
    for (; next < limit; ++next, ++event) {
      if (event->layer == layer) continue;
      if (repetition.unit_of(event->layer) != unit) break;
      layer = event->layer;
    }
    const auto segment = static_cast<std::int32_t>(mark - r.marks.begin());
    out.push_back({first, next, static_cast<std::int16_t>(unit), segment});
  }
  return out;
}

}  // namespace

Timeline::Timeline(const Recorder& recorder, Repetition repetition)
    : recorder_(recorder), repetition_(std::move(repetition)), stretches_(cut(recorder, repetition_)) {}

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

}  // namespace oomplan::estimator
