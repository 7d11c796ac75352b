#include <cstdlib>

#include "timeline.hpp"

namespace oomplan::estimator {
namespace {

/// A storage as it looks from the unit at work: whose it is, in which segment and which of that unit's stretches there
/// it was allocated, and the how-manyth of that stretch it is.
struct Relative {
  int owner = 0;
  std::int32_t segment = 0;
  std::int32_t stretch = 0;
  std::int32_t ordinal = 0;
  friend bool operator==(const Relative&, const Relative&) = default;
};

class Comparison {
 public:
  explicit Comparison(const Timeline& timeline)
      : recorder_(timeline.recorder()), repetition_(timeline.repetition()), names_(recorder_.storages.size()) {
    std::vector<std::int32_t> seen{};
    std::int32_t segment = -1;
    for (const Stretch& s : timeline.stretches()) {
      if (s.segment != segment) seen.assign(repetition_.units().size() + 1, 0);
      segment = s.segment;
      const std::int32_t number = seen[static_cast<std::size_t>(s.unit + 1)]++;
      std::int32_t ordinal = 0;
      for (std::int32_t i = s.first; i < s.end; ++i) {
        const Event& e = event(i);
        if (e.allocates) names_[static_cast<std::size_t>(e.storage)] = {s.unit, segment, number, ordinal++};
      }
    }
  }

  bool alike(const Stretch& a, const Stretch& b) const {
    if (a.end - a.first != b.end - b.first) return false;
    for (std::int32_t i = 0; i < a.end - a.first; ++i) {
      if (!alike(event(a.first + i), event(b.first + i))) return false;
    }
    return true;
  }

 private:
  bool alike(const Event& a, const Event& b) const {
    const Storage& x = storage(a);
    const Storage& y = storage(b);
    return x.layer >= 0 && y.layer >= 0 && a.allocates == b.allocates && x.bytes == y.bytes && x.bucket == y.bucket &&
           x.stream == y.stream && repetition_.place(x.layer) == repetition_.place(y.layer) &&
           relative(a) == relative(b);
  }

  Relative relative(const Event& e) const {
    Relative name = names_[static_cast<std::size_t>(e.storage)];
    name.owner -= repetition_.unit_of(e.layer);
    return name;
  }

  const Event& event(std::int32_t i) const { return recorder_.events[static_cast<std::size_t>(i)]; }
  const Storage& storage(const Event& e) const { return recorder_.at(e.storage); }

  const Recorder& recorder_;
  const Repetition& repetition_;
  std::vector<Relative> names_;
};

/// Only its neighbours and itself may free what a unit that repeats allocates.
bool freed_nearby(const Timeline& timeline) {
  const Recorder& r = timeline.recorder();
  for (const Event& e : r.events) {
    if (e.allocates) continue;
    const int owner = timeline.unit_of(r.at(e.storage));
    const int freer = timeline.repetition().unit_of(e.layer);
    if (std::abs(freer - owner) > 1 && timeline.repetition().repeats(owner)) return false;
  }
  return true;
}

bool repeats_exactly(const Timeline& timeline, const Comparison& comparison, int unit) {
  const std::vector<Stretch>& all = timeline.stretches();
  int unmatched = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::abs(all[i].unit - unit) == 1) ++unmatched;
    if (all[i].unit != unit) continue;
    if (i == 0 || i + 1 == all.size()) return false;
    const Stretch& before = all[i - 1];
    const Stretch& after = all[i + 1];
    if (std::abs(before.unit - unit) != 1 || before.unit + after.unit != 2 * unit) return false;
    if (!comparison.alike(before, all[i]) || !comparison.alike(all[i], after)) return false;
    unmatched -= 2;
  }
  return unmatched == 0;
}

}  // namespace

bool repeats_exactly(const Timeline& timeline) {
  const Comparison comparison(timeline);
  const auto count = static_cast<int>(timeline.repetition().units().size());
  for (int unit = 0; unit < count; ++unit) {
    if (timeline.repetition().repeats(unit) && !repeats_exactly(timeline, comparison, unit)) return false;
  }
  return freed_nearby(timeline);
}

}  // namespace oomplan::estimator
