// What writing a checkpoint makes on the GPU.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"
#include "parameter.hpp"

namespace oomplan::estimator {

/// The copies of weights that a framework's converter makes before the first is written (torchtune 0.6.1:
/// models/convert_weights.py, tune_to_hf; models/phi3/_convert_weights.py, phi3_tune_to_hf), all of which live until
/// the last is. None of a model with an adapter, nor of a later version, which move weights to the host before.
void convert_weights(Torch& torch, const TrainingPlan& plan, const Architecture& architecture,
                     const Parameters& parameters);

}  // namespace oomplan::estimator
