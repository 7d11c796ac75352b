// torch.nn.LayerNorm with weight and bias.
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

class LayerNorm {
 public:
  LayerNorm() = default;
  LayerNorm(Builder& b, const std::string& name, std::int64_t width)
      : weight_(b.weight(name + ".weight", {width}, Part::norm)),
        bias_(b.weight(name + ".bias", {width}, Part::norm)),
        module_(b.module_id(name)) {}

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
