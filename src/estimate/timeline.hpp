// The memory of a played run over time.
//
// Equal blocks are played only a few times: when the played neighbours of the middle block do exactly what it does, its
// stretches of events are repeated for all the blocks that it stands for, forward in one order and backward in the
// other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oomplan/footprint.hpp"
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

/// The highest moment of one phase: after event `event`, in the `replica`-th repetition of its stretch.
struct Moment {
  Phase phase = Phase::load;
  int step = 0;
  std::int64_t bytes = 0;
  std::int32_t event = -1;
  std::int64_t replica = 0;
};

/// Events [first, end) at work in one block, or outside any (layer -1).
struct Stretch {
  std::int32_t first = 0;
  std::int32_t end = 0;
  std::int16_t layer = -1;
};

/// Whether every stretch of the middle block stands between equal ones of its neighbours, so that repeating it is
/// exactly what playing every block would give.
bool repeats_exactly(const Recorder& recorder, const Repetition& repetition);

/// The highest moment of each phase of each step, in order of time; of equal ones the first.
std::vector<Moment> peaks(const Recorder& recorder, const Repetition& repetition);

/// A storage alive at a moment, `count` times over.
struct Live {
  StorageId storage = StorageId::none;
  std::int64_t count = 0;
  int first_layer = -1;
  int last_layer = -1;
};

/// What is alive at a moment.
std::vector<Live> alive_at(const Recorder& recorder, const Repetition& repetition, const Moment& moment);

/// For each bucket the moment when it is largest.
std::vector<Moment> bucket_peaks(const Recorder& recorder, const Repetition& repetition);

/// How many events the whole run has, every block counted.
std::int64_t event_count(const Recorder& recorder, const Repetition& repetition);

}  // namespace oomplan::estimator
