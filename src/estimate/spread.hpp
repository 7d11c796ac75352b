// Runs in which layers that repeat have loops of their own: written down with every layer, as if each had been played.
#pragma once

#include <vector>

#include "timeline.hpp"
#include "torch/looped.hpp"

namespace oomplan::estimator {

struct Spread {
  Recorder recorder{};
  std::vector<Loops::Loop> loops{};
};

/// `timeline`: of the layers that were played, the turns of their loops at work in them (Repetition::give_turns), where
/// it repeats exactly. Layers have the numbers that they have where each is built, the turns those behind them, in the
/// order of the loops. Nothing where these are too many.
bool spread(const Timeline& timeline, const std::vector<Loops::Loop>& loops, Spread& out);

}  // namespace oomplan::estimator
