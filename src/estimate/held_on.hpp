// The verdict on a run and a card, for all that ask for one.
#pragma once

#include "oomplan/estimate/estimate.hpp"

namespace oomplan::estimator {

/// As fit(), but for how near the edge it is and for PyTorch's own peaks, which cost further replays: the verdict is
/// fits, does_not_fit or undecided. It takes the upper end of all that is not known: the most of each runtime term, and
/// whichever order of addresses needs more.
Fit held_on(const Reservation& reservation, const Gpu& gpu, Bytes paged, const MeshFacts& mesh);

}  // namespace oomplan::estimator
