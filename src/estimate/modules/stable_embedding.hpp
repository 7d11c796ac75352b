// bitsandbytes' StableEmbedding (bitsandbytes/nn/modules.py), as litgpt puts it in the place of a model's embedding
// once the optimizer has that one's weight (finetune/lora.py: main). So the weight is there twice, and the new one,
// which no optimizer knows, keeps its gradient.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

class StableEmbedding {
 public:
  StableEmbedding() = default;
  StableEmbedding(Builder& b, const Dims& sizes)
      : weight_(b.torch.parameter(sizes, b.facts.weights, true)),
        norm_weight_(b.torch.parameter({sizes.back()}, b.facts.weights, true)),
        norm_bias_(b.torch.parameter({sizes.back()}, b.facts.weights, true)) {}

  explicit operator bool() const { return bool(weight_); }
  Tensor operator()(Torch& t, const Tensor& ids) const {
    return t.layer_norm(t.embedding(weight_, ids), norm_weight_, norm_bias_);
  }

 private:
  Tensor weight_{};
  Tensor norm_weight_{};
  Tensor norm_bias_{};
};

}  // namespace oomplan::estimator
