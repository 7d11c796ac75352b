// The memory of a played run over time.
//
// Equal blocks are played only a few times: when the played neighbours of the middle block do exactly what it does, its
// stretches of events are repeated for all the blocks that it stands for, forward in one order and backward in the
// other.
#pragma once

#include <cstdint>
#include <vector>

#include "torch/recorder.hpp"

namespace oomplan::estimator {

/// The blocks that a run built and how many real ones the middle one stands for.
struct Repetition {
  int built = 0;
  std::int64_t layers = 0;
  int middle() const { return built / 2; }
  std::int64_t times() const { return layers - built + 1; }
  bool whole() const { return built == layers; }
};

/// Events [first, end) at work in one block, or outside any (layer -1), all in one phase.
struct Stretch {
  std::int32_t first = 0;
  std::int32_t end = 0;
  std::int16_t layer = -1;
  std::int32_t segment = 0;  ///< How many of the recorder's marks lie at or before it.
};

/// An event and the stretch that it is in; none: stretch -1.
struct Place {
  std::int32_t stretch = -1;
  std::int32_t event = -1;
};

/// A run's events cut into stretches, where the block at work or the phase changes.
class Timeline {
 public:
  Timeline(const Recorder& recorder, const Repetition& repetition);

  const Recorder& recorder() const { return recorder_; }
  const Repetition& repetition() const { return repetition_; }
  const std::vector<Stretch>& stretches() const { return stretches_; }
  const Stretch& at(std::int32_t stretch) const { return stretches_[static_cast<std::size_t>(stretch)]; }

  /// Whether the stretch is one of the middle block's, and stands for those of many.
  bool repeated(std::int32_t stretch) const {
    return !repetition_.whole() && at(stretch).layer == repetition_.middle();
  }
  std::int64_t times(std::int32_t stretch) const { return repeated(stretch) ? repetition_.times() : 1; }
  /// Whether the repeated blocks are at work in their own order, not from the last to the first.
  bool ascending(std::int32_t stretch) const {
    return stretch > 0 && at(stretch - 1).layer == repetition_.middle() - 1;
  }

  /// Where each storage is allocated.
  std::vector<Place> births() const { return places(true); }
  /// Where each storage is freed.
  std::vector<Place> deaths() const { return places(false); }
  /// How many events the whole run has, every block counted.
  std::int64_t event_count() const;

 private:
  std::vector<Place> places(bool allocations) const;

  const Recorder& recorder_;
  Repetition repetition_;
  std::vector<Stretch> stretches_;
};

/// Whether every stretch of the middle block stands between equal ones of its neighbours, so that repeating it is
/// exactly what playing every block would give.
bool repeats_exactly(const Timeline& timeline);

}  // namespace oomplan::estimator
