// The verdict on a run and a card, for all that ask for one.
#pragma once

#include "oomplan/estimate/estimate.hpp"

namespace oomplan::estimator {

/// As fit(), but for PyTorch's own peaks. It takes the upper end of all that is not known: the most of each runtime
/// term, and whichever order of addresses needs more. `limit`: the most that the run is to need, at most the card.
Fit held_on(const Reservation& reservation, const Gpu& gpu, Bytes limit, Bytes paged, const TrainingPlan& plan);

}  // namespace oomplan::estimator
