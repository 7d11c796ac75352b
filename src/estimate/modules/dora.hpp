// peft's DoRA over a linear layer (peft 0.21: tuners/lora/dora.py DoraLinearLayer, tuners/lora/variants.py
// DoraLinearVariant).
#pragma once

#include <functional>

#include "play.hpp"

namespace oomplan::estimator {

struct Dora {
  const Tensor& lora_a;
  const Tensor& lora_b;
  const Tensor& magnitude;
  const std::function<Tensor()>& weight;  ///< Makes or reads the base layer's: out × in, or of a Conv1D in × out.
  bool turned;                            ///< Of a Conv1D.
  const Tensor& bias;                     ///< The base layer's, or empty.

  /// What is added to the base layer's `result` for its input `x`, in the dtype in which it has it.
  Tensor operator()(Play& play, Tensor x, const Tensor& result) const;
};

/// torchtune's DoRALinear (torchtune/modules/peft/dora.py), beside its base layer's result.
struct OwnDora {
  const Tensor& lora_a;
  const Tensor& lora_b;
  const Tensor& magnitude;
};
Tensor own_dora(Play& play, Tensor x, const Tensor& base, const OwnDora& adapter,
                const std::function<Tensor()>& weight);

}  // namespace oomplan::estimator
