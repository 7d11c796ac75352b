// diffusers/models: what the blocks of UNet2DConditionModel are made of, over batch × channels × height × width.
#pragma once

#include <string>
#include <vector>

#include "modules/diffusers_attention.hpp"
#include "modules/group_norm.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/pictures.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// resnet.py: ResnetBlock2D.
class UnetResnet {
 public:
  struct Shape {
    std::int64_t in = 1;
    std::int64_t out = 1;
    std::int64_t time = 1;  ///< Width of the timestep's embedding.
    std::int64_t groups = 32;
    double dropout = 0.0;
  };
  UnetResnet(Builder& b, const std::string& name, const Shape& shape);
  Tensor operator()(Play& play, const Tensor& x, const Tensor& time) const;

 private:
  double dropout_;
  std::int32_t module_;
  GroupNorm norm1_;
  Conv2d conv1_;
  Linear time_;
  GroupNorm norm2_;
  Conv2d conv2_;
  Conv2d shortcut_{};
  bool changes_;  ///< The number of channels, for which a convolution stands beside.
};

/// attention.py: BasicTransformerBlock with layer norms and GEGLU.
class UnetTransformerBlock {
 public:
  UnetTransformerBlock(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads, std::int64_t text);
  Tensor operator()(Play& play, const Tensor& x, const Tensor& text) const;

 private:
  Tensor feed_forward(Play& play, const Tensor& x) const;

  std::int64_t inner_;
  std::int32_t module_;
  LayerNorm norm1_;
  DiffusersAttention attn1_;
  LayerNorm norm2_;
  DiffusersAttention attn2_;
  LayerNorm norm3_;
  Linear up_, down_;
};

/// transformers/transformer_2d.py: Transformer2DModel over pictures of channels.
class UnetTransformer {
 public:
  struct Shape {
    std::int64_t width = 1;
    std::int64_t heads = 1;
    std::int64_t layers = 1;
    std::int64_t text = 1;  ///< Width of the text's embeddings.
    std::int64_t groups = 32;
    bool linear = false;  ///< Its projections are no convolutions (use_linear_projection).
  };
  UnetTransformer(Builder& b, const std::string& name, const Shape& shape);
  Tensor operator()(Play& play, const Tensor& x, const Tensor& text) const;

 private:
  std::int64_t width_;
  bool linear_;
  std::int32_t module_;
  GroupNorm norm_;
  Conv2d conv_in_{};
  Linear proj_in_{};
  std::vector<UnetTransformerBlock> blocks_{};
  Conv2d conv_out_{};
  Linear proj_out_{};
};

}  // namespace oomplan::estimator
