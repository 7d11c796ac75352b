// torch.nn.LayerNorm: with weight and bias, with a weight alone, or with neither.
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

enum class Affine { weight_and_bias, weight, none };

class LayerNorm {
 public:
  LayerNorm() = default;
  LayerNorm(Builder& b, const std::string& name, std::int64_t width, Affine affine = Affine::weight_and_bias)
      : module_(b.module_id(name)) {
    Restore of_layer_norm(b.in_layer_norm, true);
    if (affine != Affine::none) weight_ = b.weight(name + ".weight", {width}, Part::norm);
    if (affine == Affine::weight_and_bias) bias_ = b.weight(name + ".bias", {width}, Part::norm);
  }

  explicit operator bool() const { return module_ >= 0; }
  Tensor operator()(Play& play, const Tensor& x) const {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    return play.torch.layer_norm(x, weight_, bias_);
  }

 private:
  Tensor weight_{};
  Tensor bias_{};
  std::int32_t module_ = -1;
};

}  // namespace oomplan::estimator
