// diffusers/models/transformers/transformer_flux.py: the blocks of FluxTransformer2DModel.
#pragma once

#include <array>
#include <string>

#include "modules/ada_norm.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// The two streams, and what every block is given beside them.
struct FluxStreams {
  Tensor text{};
  Tensor time{};
  Tensor cos{};
  Tensor sin{};
};

/// FluxAttention under FluxAttnProcessor: of both streams, or of one that is both already.
class FluxAttention {
 public:
  FluxAttention(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads, bool joint);
  /// What comes of the picture's stream (or of the one that there is), and of the text's.
  std::array<Tensor, 2> operator()(Play& play, const Tensor& x, const Tensor& text, const FluxStreams& s) const;

 private:
  Tensor normed(Play& play, const Tensor& x, const Tensor& weight) const;

  std::int64_t head_dim_;
  bool joint_;
  std::int32_t module_;
  Tensor norm_q_{}, norm_k_{}, norm_added_q_{}, norm_added_k_{};
  Linear to_q_{}, to_k_{}, to_v_{}, to_out_{}, add_q_{}, add_k_{}, add_v_{}, to_add_out_{};
};

/// FluxTransformerBlock: leaves the text's stream in `s`.
class FluxBlock {
 public:
  FluxBlock(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads);
  Tensor operator()(Play& play, const Tensor& x, FluxStreams& s) const;

 private:
  std::int32_t module_;
  AdaNorm norm1_, norm1_context_;
  FluxAttention attention_;
  LayerNorm norm2_;
  GeluFeedForward feed_;
  LayerNorm norm2_context_;
  GeluFeedForward feed_context_;
};

/// FluxSingleTransformerBlock: the same.
class FluxSingleBlock {
 public:
  FluxSingleBlock(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads);
  Tensor operator()(Play& play, const Tensor& x, FluxStreams& s) const;

 private:
  std::int32_t module_;
  AdaNorm norm_;
  Linear proj_mlp_, proj_out_;
  FluxAttention attention_;
};

}  // namespace oomplan::estimator
