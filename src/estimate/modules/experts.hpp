// The experts of a mixture as transformers 5 keeps them: two 3-D parameters, no linear layers, so that neither 4-bit
// loading nor LoRA's module names reach them (integrations/moe.py).
#pragma once

#include <string>

#include "modules/activation.hpp"
#include "play.hpp"

namespace oomplan::estimator {

class Experts {
 public:
  Experts() = default;
  Experts(const Attributes& attributes, Builder& builder, const std::string& name);

  /// grouped_mm_experts_forward, transformers' default: hidden is tokens × width, weights and index tokens × experts of
  /// each token. Its sizes do not depend on the routing.
  Tensor operator()(Play& play, const Tensor& hidden, const Tensor& weights, const Tensor& index) const;

 private:
  Tensor gated(Torch& t, const Tensor& both) const;

  std::int64_t count_ = 0;
  std::int64_t inner_ = 0;
  Activation activation_ = nullptr;
  Tensor gate_up_{};
  Tensor down_{};
  std::int32_t module_ = -1;
};

}  // namespace oomplan::estimator
