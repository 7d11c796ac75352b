#include "curve.hpp"

#include <algorithm>

namespace oomplan::estimator {
namespace {

/// A point of the run while it is walked through.
struct Here {
  int step = 0;
  Phase phase = Phase::load;
  ByBucket levels{};
  std::int64_t total = 0;
  StorageId latest = StorageId::none;  ///< Allocated last.
  int layer = -1;                      ///< Of that.
};

/// Goes through every event of a run, repeated layers one by one.
class Walker {
 public:
  explicit Walker(const Timeline& timeline) : timeline_(timeline), recorder_(timeline.recorder()) {}

  template <class Visit>
  void walk(Visit&& visit) {
    Here here;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(timeline_.stretches().size()); ++s) {
      const Stretch& stretch = timeline_.at(s);
      if (stretch.segment > 0) {
        const Mark& mark = recorder_.marks[static_cast<std::size_t>(stretch.segment - 1)];
        here.step = mark.step;
        here.phase = mark.phase;
      }
      for (std::int64_t turn = 0; turn < timeline_.times(s); ++turn) play(s, turn, here, visit);
    }
  }

 private:
  template <class Visit>
  void play(std::int32_t s, std::int64_t turn, Here& here, Visit& visit) const {
    const std::int64_t unit = timeline_.ascending(s) ? turn : timeline_.times(s) - 1 - turn;
    for (std::int32_t i = timeline_.at(s).first; i < timeline_.at(s).end; ++i) {
      const Event& event = recorder_.events[static_cast<std::size_t>(i)];
      const Storage& storage = recorder_.at(event.storage);
      if (storage.bucket == Bucket::paged) continue;
      const std::int64_t bytes = event.allocates ? storage.bytes : -storage.bytes;
      at(here.levels, storage.bucket) += Bytes(bytes);
      here.total += bytes;
      if (event.allocates) {
        here.latest = event.storage;
        here.layer = layer_of(storage.layer, unit);
      }
      visit(here);
    }
  }

  /// Among all layers, not those built.
  int layer_of(int built, std::int64_t turn) const {
    const Repetition& repetition = timeline_.repetition();
    if (built < 0) return built;
    return static_cast<int>(repetition.number(built, repetition.repeats(repetition.unit_of(built)) ? turn : 0));
  }

  const Timeline& timeline_;
  const Recorder& recorder_;
};

struct Highest {
  int step = 0;
  std::int64_t total = -1;
};

}  // namespace

Curve curve_of(const Timeline& timeline, const std::vector<std::string>& modules, std::size_t most) {
  Highest highest;
  Walker walker(timeline);
  walker.walk([&](const Here& here) {
    if (here.total > highest.total) highest = {here.step, here.total};
  });
  std::size_t events = 0;
  walker.walk([&](const Here& here) { events += here.step == highest.step ? 1 : 0; });
  const std::size_t a_point = std::max<std::size_t>(1, (events + most - 1) / std::max<std::size_t>(most, 1));
  Curve out{.step = highest.step};
  std::size_t seen = 0;
  std::int64_t best = 0;
  walker.walk([&](const Here& here) {
    if (here.step != highest.step) return;
    const bool first = seen++ % a_point == 0;
    if (!first && here.total <= best) return;
    best = here.total;
    if (first) out.points.emplace_back();
    const Storage& storage = timeline.recorder().at(here.latest);
    out.points.back() = {.phase = here.phase,
                         .by_bucket = here.levels,
                         .op = storage.op,
                         .module = storage.module < 0 ? "" : modules[static_cast<std::size_t>(storage.module)],
                         .layer = here.layer,
                         .bytes = Bytes(storage.bytes)};
  });
  return out;
}

}  // namespace oomplan::estimator
