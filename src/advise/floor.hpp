// What a set of fixes leaves of what a smaller set was found to hold: a bound from below, for which nothing is played.
#pragma once

#include <array>
#include <vector>

#include "oomplan/estimate/estimate.hpp"
#include "rung.hpp"

namespace oomplan::advise {

/// What PyTorch's tensors on the card are of.
inline constexpr std::array tensor_buckets{Bucket::weights,         Bucket::optimizer,        Bucket::gradients,
                                           Bucket::activations,     Bucket::attention_scores, Bucket::logits_and_loss,
                                           Bucket::autocast_copies, Bucket::temporaries,      Bucket::inputs,
                                           Bucket::gathered,        Bucket::communication};

/// What a plan holds at the highest moment of each phase.
struct Moments {
  std::vector<ByBucket> held{};  ///< Empty where nothing is known.
  Bytes trained{};               ///< Of the weights what is trained, in four bytes each: that or less.
};

/// Of a plan that was estimated.
Moments moments_of(const Footprint& footprint);
/// Of one that is estimated for it.
Moments moments_of(const TrainingPlan& plan, const Architecture& architecture);

/// What is held at those moments at the least once `rung` is taken too: all in the buckets that it does not relieve.
Moments left_by(const Rung& rung, Moments moments);

/// The tensors of the fullest of them; 0 of none.
Bytes fullest(const Moments& moments);

}  // namespace oomplan::advise
