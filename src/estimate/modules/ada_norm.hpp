// diffusers/models/normalization.py: norms whose shift and scale, and gates beside them, are made of an embedding.
#pragma once

#include <string>
#include <vector>

#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// self.linear(self.silu(emb)).chunk(parts, dim=1) and a norm without weights: AdaLayerNormZero,
/// AdaLayerNormZeroSingle and AdaLayerNormContinuous.
class AdaNorm {
 public:
  AdaNorm() = default;
  AdaNorm(Builder& b, const std::string& name, std::int64_t width, std::int64_t parts)
      : width_(width),
        linear_(b, name + ".linear", width, saturating_mul(width, parts), true),
        norm_(b, name + ".norm", width, Affine::none) {}

  /// Each batch × width.
  std::vector<Tensor> parts(Play& play, const Tensor& embedding) const {
    Torch& t = play.torch;
    return t.split(linear_(play, t.silu(embedding)), width_, 1);
  }
  Tensor normed(Play& play, const Tensor& x) const { return norm_(play, x); }

 private:
  std::int64_t width_ = 1;
  Linear linear_{};
  LayerNorm norm_{};
};

/// x * (1 + scale[:, None]) + shift[:, None], which lets go of an x that nothing else holds.
inline Tensor modulated(Torch& t, Tensor x, const Tensor& shift, const Tensor& scale) {
  x = t.mul(x, t.add_scalar(t.unsqueeze(scale, 1)));
  return t.add(x, t.unsqueeze(shift, 1));
}

/// FeedForward with activation_fn="gelu-approximate".
class GeluFeedForward {
 public:
  GeluFeedForward() = default;
  GeluFeedForward(Builder& b, const std::string& name, std::int64_t width)
      : up_(b, name + ".net.0.proj", width, saturating_mul(width, 4), true),
        down_(b, name + ".net.2", saturating_mul(width, 4), width, true) {}
  Tensor operator()(Play& play, const Tensor& x) const {
    Tensor hidden = up_(play, x);
    hidden = play.torch.gelu(hidden);
    return down_(play, hidden);
  }

 private:
  Linear up_{}, down_{};
};

}  // namespace oomplan::estimator
