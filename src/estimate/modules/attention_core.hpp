// The attention functions that transformers' modules share (integrations/sdpa_attention.py, eager_attention_forward).
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// How a model's own eager_attention_forward differs from the others'.
struct EagerStyle {
  bool fp32_softmax = false;  ///< softmax(..., dtype=float32), as the Llama family writes it.
};

/// q: batch × heads × length × width, k and v with their own heads. Returns batch × length × heads × width.
Tensor attend(Play& play, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, double dropout,
              bool causal, EagerStyle style);

}  // namespace oomplan::estimator
