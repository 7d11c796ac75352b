// diffusers/models/embeddings.py: what denoisers make of the step that each sample's noise is of.
#pragma once

#include <string>

#include "modules/linear.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// get_timestep_embedding: sines and cosines of numbers, a row of `width` in fp32 for each; `flips`: cosines first.
Tensor timestep_waves(Torch& t, const Tensor& numbers, std::int64_t width, bool flips);

/// TimestepEmbedding, and PixArtAlphaTextProjection: two linear layers with SiLU between them.
class TimestepEmbedding {
 public:
  TimestepEmbedding() = default;
  TimestepEmbedding(Builder& b, const std::string& name, std::int64_t in, std::int64_t width)
      : first_(b, name + ".linear_1", in, width, true), second_(b, name + ".linear_2", width, width, true) {}
  Tensor operator()(Play& play, Tensor x) const {
    x = first_(play, x);
    x = play.torch.silu(x);
    return second_(play, x);
  }

 private:
  Linear first_{}, second_{};
};

}  // namespace oomplan::estimator
