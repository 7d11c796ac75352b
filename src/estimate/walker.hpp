// Every event of a run, one after the other.
#pragma once

#include <cstdint>

#include "timeline.hpp"

namespace oomplan::estimator {

/// A point of the run while it is walked through.
struct Here {
  int step = 0;
  Phase phase = Phase::load;
  ByBucket levels{};
  std::int64_t total = 0;
  StorageId event = StorageId::none;   ///< Allocated or freed just now.
  StorageId latest = StorageId::none;  ///< Allocated last.
  int layer = -1;                      ///< Of that.
  bool allocated = false;              ///< Just now; else something was freed.
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
      const std::int64_t size = storage.bucket == Bucket::runtime ? 0 : storage.bytes;
      const std::int64_t bytes = event.allocates ? size : -size;
      at(here.levels, storage.bucket) += Bytes(bytes);
      here.total += bytes;
      here.event = event.storage;
      here.allocated = event.allocates;
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

}  // namespace oomplan::estimator
