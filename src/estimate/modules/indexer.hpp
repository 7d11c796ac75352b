// DeepSeek's sparse attention: which tokens each query attends to (DeepseekV32Indexer, GlmMoeDsaIndexer).
#pragma once

#include <string>

#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"
#include "play.hpp"

namespace oomplan::estimator {

class Indexer {
 public:
  Indexer() = default;
  /// `name` is the module's ("self_attn.indexer").
  Indexer(const Attributes& attributes, Builder& builder, const std::string& name);

  explicit operator bool() const { return heads_ != 0; }

  /// Which tokens are chosen, batch × length × chosen: of the layer's input and of its queries while they are narrow.
  Tensor operator()(Play& play, const Stream& s, const Tensor& hidden, const Tensor& queries) const;

 private:
  std::int64_t heads_ = 0;
  std::int64_t head_dim_ = 0;
  std::int64_t turned_ = 0;
  std::int64_t chosen_ = 0;
  Rotary rotary_ = Rotary::halves;
  std::int32_t module_ = -1;
  Linear wq_b_{}, wk_{}, weights_proj_{};
  LayerNorm k_norm_{};
};

/// Where the queries may not look: batch × 1 × length × length, true at the tokens that were not chosen.
Tensor index_mask(Torch& t, const Tensor& chosen);

/// The mask of all, with those taken out too.
Tensor without_unchosen(Torch& t, const Tensor& mask, const Tensor& unchosen);

}  // namespace oomplan::estimator
