// transformers' `use_kernels`, whose layers come from kernels-community on the Hub: Liger's norm in place of a
// Llama-like one, and a rotary embedding that turns copies of q and k where they are. Axolotl switches it on beside
// ScatterMoE (axolotl 0.18.0: integrations/kernels/args.py, check_use_kernels), which is when it is played.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

inline bool takes_hub_kernels(const Facts& facts) { return facts.experts == ExpertsImplementation::scattermoe; }

/// apply_rotary_transformers: no gradient is made of it but the copies'.
inline void rotate_by_hub(Torch& t, Tensor& q, Tensor& k) {
  q = t.clone(q);
  k = t.clone(k);
}

}  // namespace oomplan::estimator
