#include <cstdlib>

#include "timeline.hpp"

namespace oomplan::estimator {
namespace {

/// A storage as it looks from the block at work: whose it is, in which segment and which of that block's stretches
/// there it was allocated, and the how-manyth of that stretch it is.
struct Relative {
  int owner = 0;
  std::int32_t segment = 0;
  std::int32_t stretch = 0;
  std::int32_t ordinal = 0;
  friend bool operator==(const Relative&, const Relative&) = default;
};

class Comparison {
 public:
  explicit Comparison(const Timeline& timeline) : recorder_(timeline.recorder()), names_(recorder_.storages.size()) {
    std::vector<std::int32_t> seen{};
    std::int32_t segment = -1;
    for (const Stretch& s : timeline.stretches()) {
      if (s.segment != segment) seen.assign(static_cast<std::size_t>(timeline.repetition().built + 1), 0);
      segment = s.segment;
      const std::int32_t number = seen[static_cast<std::size_t>(s.layer + 1)]++;
      std::int32_t ordinal = 0;
      for (std::int32_t i = s.first; i < s.end; ++i) {
        const Event& e = event(i);
        if (e.allocates) names_[static_cast<std::size_t>(e.storage)] = {s.layer, segment, number, ordinal++};
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
    return x.layer >= 0 && a.allocates == b.allocates && x.bytes == y.bytes && x.bucket == y.bucket &&
           relative(a) == relative(b);
  }

  Relative relative(const Event& e) const {
    Relative name = names_[static_cast<std::size_t>(e.storage)];
    name.owner -= e.layer;
    return name;
  }

  const Event& event(std::int32_t i) const { return recorder_.events[static_cast<std::size_t>(i)]; }
  const Storage& storage(const Event& e) const { return recorder_.at(e.storage); }

  const Recorder& recorder_;
  std::vector<Relative> names_;
};

/// Only its neighbours and itself may free what the middle block allocates.
bool freed_nearby(const Recorder& r, int middle) {
  for (const Event& e : r.events) {
    if (!e.allocates && std::abs(e.layer - middle) > 1 && r.at(e.storage).layer == middle) return false;
  }
  return true;
}

}  // namespace

bool repeats_exactly(const Timeline& timeline) {
  const int m = timeline.repetition().middle();
  const std::vector<Stretch>& all = timeline.stretches();
  const Comparison comparison(timeline);
  int unmatched = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::abs(all[i].layer - m) == 1) ++unmatched;
    if (all[i].layer != m) continue;
    if (i == 0 || i + 1 == all.size()) return false;
    const Stretch& before = all[i - 1];
    const Stretch& after = all[i + 1];
    if (std::abs(before.layer - m) != 1 || before.layer + after.layer != 2 * m) return false;
    if (!comparison.alike(before, all[i]) || !comparison.alike(all[i], after)) return false;
    unmatched -= 2;
  }
  return unmatched == 0 && freed_nearby(timeline.recorder(), m);
}

}  // namespace oomplan::estimator
