// The memory of a played run over time.
//
// Equal units of layers are played only a few times: when the played neighbours of the middle unit do exactly what it
// does, its stretches of events are repeated for all the units that it stands for, forward in one order and backward in
// the other.
#pragma once

#include <cstdint>
#include <vector>

#include "repetition.hpp"
#include "torch/recorder.hpp"

namespace oomplan::estimator {

/// Events [first, end) at work in one unit, or outside any (unit -1), all in one phase.
struct Stretch {
  std::int32_t first = 0;
  std::int32_t end = 0;
  std::int16_t unit = -1;
  std::int32_t segment = 0;  ///< How many of the recorder's marks lie at or before it.
};

/// An event and the stretch that it is in; none: stretch -1.
struct Place {
  std::int32_t stretch = -1;
  std::int32_t event = -1;
};

/// A run's events cut into stretches, where the unit at work or the phase changes.
class Timeline {
 public:
  Timeline(const Recorder& recorder, Repetition repetition);

  const Recorder& recorder() const { return recorder_; }
  const Repetition& repetition() const { return repetition_; }
  const std::vector<Stretch>& stretches() const { return stretches_; }
  const Stretch& at(std::int32_t stretch) const { return stretches_[static_cast<std::size_t>(stretch)]; }

  std::int64_t times(std::int32_t stretch) const { return repetition_.times(at(stretch).unit); }
  /// Whether the stretch is one of a middle unit's, and stands for those of many.
  bool repeated(std::int32_t stretch) const { return times(stretch) > 1; }
  /// Whether the units that a stretch stands for are at work in their own order, not from the last to the first.
  bool ascending(std::int32_t stretch) const { return stretch > 0 && at(stretch - 1).unit == at(stretch).unit - 1; }
  /// The unit in which a storage was made.
  int unit_of(const Storage& storage) const { return repetition_.unit_of(storage.layer); }

  /// Where each storage is allocated.
  std::vector<Place> births() const { return places(true); }
  /// Where each storage is freed.
  std::vector<Place> deaths() const { return places(false); }

 private:
  std::vector<Place> places(bool allocations) const;

  const Recorder& recorder_;
  Repetition repetition_;
  std::vector<Stretch> stretches_;
};

/// Whether every stretch of a unit that repeats stands between equal ones of its neighbours, so that repeating it is
/// exactly what playing every layer would give.
bool repeats_exactly(const Timeline& timeline);

}  // namespace oomplan::estimator
