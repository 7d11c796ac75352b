// The stages of a UNet2DConditionModel, as its config's lists have them.
#pragma once

#include <string>
#include <vector>

#include "modules/unet.hpp"
#include "play.hpp"

namespace oomplan::estimator {

struct UnetShape {
  struct Stage {
    bool attends = false;  ///< CrossAttnDownBlock2D and CrossAttnUpBlock2D.
    std::int64_t width = 1;
    std::int64_t resnets = 1;
    std::int64_t layers = 1;  ///< Of a transformer.
    std::int64_t heads = 1;
    std::int64_t text = 1;
  };
  std::vector<Stage> down{};
  std::vector<Stage> up{};  ///< In the order in which they run.
  std::int64_t time = 1;
  std::int64_t groups = 32;
  double dropout = 0.0;
  bool linear = false;

  UnetResnet::Shape resnet(std::int64_t in, std::int64_t out) const { return {in, out, time, groups, dropout}; }
  UnetTransformer::Shape transformer(const Stage& stage) const {
    return {stage.width, stage.heads, stage.layers, stage.text, groups, linear};
  }
};

/// Lists that do not fit together, and widths that heads or groups do not divide, are problems of the builder's.
UnetShape unet_shape(const Attributes& a, Builder& b);

}  // namespace oomplan::estimator
