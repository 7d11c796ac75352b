// Loops of a model's Python code over tokens or chunks, whose turns are alike: of a long one a few turns are played, as
// a Repetition plays a few of many layers.
#pragma once

#include <cstdint>

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// Calls body(i) for each turn of a loop, or for the few that stand for all; i counts those called. What a turn makes
/// only it and its neighbours may free, else every turn is played after all (repeats_exactly).
template <class Body>
void play_turns(Torch& t, std::int64_t turns, const Body& body) {
  const std::int16_t first = t.loops.first_of(t.recorder.scope, turns);
  const std::int64_t played = first < 0 ? turns : Loops::played;
  for (std::int64_t i = 0; i < played; ++i) {
    const std::int16_t own = t.recorder.scope.layer;
    Restore turn(t.recorder.scope.layer, static_cast<std::int16_t>(first < 0 ? own : first + i));
    body(i);
  }
}

}  // namespace oomplan::estimator
