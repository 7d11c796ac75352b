// torchtune's rotary embeddings: cosines and sines of all positions that the model may have, in fp32.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// The buffers of RotaryPositionalEmbeddings and its like, which are made with the model and stay.
struct RopeCache {
  RopeCache() = default;
  /// `halves`: both of halves that repeat, positions × 2·head_dim; else a cosine and a sine of each pair, positions ×
  /// head_dim.
  RopeCache(Builder& b, std::int64_t positions, std::int64_t head_dim, bool halves) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    theta = b.torch.empty({head_dim / 2}, DType::fp32, "buffer");
    cache = b.torch.empty({positions, halves ? 2 * head_dim : head_dim}, DType::fp32, "buffer");
  }

  Tensor theta{};
  Tensor cache{};
};

}  // namespace oomplan::estimator
