// UNet2DConditionModel.forward between its first convolution and its last norm: blocks that halve the picture, one in
// the middle, and blocks that double it again, each of which is given what those of its size before left
// (diffusers/models/unets/unet_2d_blocks.py). Residual blocks and the layers of transformers are checkpointed each by
// itself, but for the middle's first.
#include <optional>

#include "modules/checkpointed.hpp"
#include "modules/unet_shape.hpp"
#include "torch/upsampling.hpp"

namespace oomplan::estimator::ops {
namespace {

/// CrossAttnDownBlock2D, CrossAttnUpBlock2D, and these without transformers.
struct Block {
  std::vector<UnetTransformer> transformers{};
  std::vector<UnetResnet> resnets{};
  std::optional<Conv2d> sampler{};
};

class UnetBlocks final : public Module {
 public:
  UnetBlocks(const Attributes& a, Builder& b) {
    if (b.facts.attention != Attention::sdpa) a.unmodelled("kinds of attention other than sdpa (AttnProcessor2_0)");
    if (a.integer("padding", 1) != 1) a.unmodelled("downsample_padding other than 1");
    const std::string middle = a.text("middle", "");
    if (!middle.empty() && middle != "UNetMidBlock2DCrossAttn") a.unmodelled("blocks of type " + middle);
    if (b.facts.checkpointing && b.facts.reentrant) a.unmodelled("reentrant checkpoints, which diffusers has not,");
    const UnetShape shape = unet_shape(a, b);
    if (shape.down.empty()) return;
    make_down(b, shape);
    make_up(b, shape);
    if (!middle.empty()) make_middle(b, shape);
  }

  void forward(Play& play, Stream& s) const override {
    std::vector<Tensor> left = std::move(s.taken_states);
    for (const Block& block : down_) run_down(play, s, block, left);
    run_middle(play, s);
    std::vector<Tensor> given;  // Until the next block's.
    for (const Block& block : up_) {
      const auto first = left.end() - std::ssize(block.resnets);
      given.assign(first, left.end());
      left.erase(first, left.end());
      run_up(play, s, block, given, left);
    }
    s.taken_states = std::move(given);  // The last ones stay a variable of forward's.
  }

 private:
  static Tensor resnet(Play& play, Stream& s, const UnetResnet& module, const Tensor& x) {
    return checkpointed(
        play, x, [&module, time = s.time_embeds](Play& p, const Tensor& input) { return module(p, input, time); });
  }

  static void run_down(Play& play, Stream& s, const Block& block, std::vector<Tensor>& left) {
    const Tensor sample = s.hidden;  // The caller's variable, until the block returns.
    for (std::size_t i = 0; i < block.resnets.size(); ++i) {
      s.hidden = resnet(play, s, block.resnets[i], s.hidden);
      if (!block.transformers.empty()) s.hidden = block.transformers[i](play, s.hidden, s.arguments.encoder);
      left.push_back(s.hidden);
    }
    if (!block.sampler) return;
    s.hidden = (*block.sampler)(play, s.hidden);
    left.push_back(s.hidden);
  }

  void run_middle(Play& play, Stream& s) const {
    if (middle_.resnets.empty()) return;
    const Tensor sample = s.hidden;  // As above.
    s.hidden = middle_.resnets[0](play, s.hidden, s.time_embeds);
    s.hidden = middle_.transformers[0](play, s.hidden, s.arguments.encoder);
    s.hidden = resnet(play, s, middle_.resnets[1], s.hidden);
  }

  /// `left`: what later blocks are given, the first of it of the size that comes out where sides were odd.
  static void run_up(Play& play, Stream& s, const Block& block, const std::vector<Tensor>& given,
                     const std::vector<Tensor>& left) {
    Torch& t = play.torch;
    const Tensor sample = s.hidden;  // As above.
    for (std::size_t i = 0; i < block.resnets.size(); ++i) {
      s.hidden = t.cat({s.hidden, given[given.size() - 1 - i]}, 1);
      s.hidden = resnet(play, s, block.resnets[i], s.hidden);
      if (!block.transformers.empty()) s.hidden = block.transformers[i](play, s.hidden, s.arguments.encoder);
    }
    if (!block.sampler) return;
    const Tensor argument = s.hidden;  // The block's variable, until the sampler returns.
    const Dims& size = left.back()->sizes;
    s.hidden = upsample_nearest(t, s.hidden, size[2], size[3]);
    s.hidden = (*block.sampler)(play, s.hidden);
  }

  void make_down(Builder& b, const UnetShape& shape) {
    std::int64_t in = shape.down.front().width;
    for (std::size_t i = 0; i < shape.down.size(); ++i) {
      const UnetShape::Stage& stage = shape.down[i];
      const std::string name = "down_blocks." + std::to_string(i);
      Block& block = down_.emplace_back();
      make_transformers(b, shape, stage, name, block);
      for (std::int64_t k = 0; k < stage.resnets; ++k) {
        const std::string resnet = name + ".resnets." + std::to_string(k);
        block.resnets.emplace_back(b, resnet, shape.resnet(k == 0 ? in : stage.width, stage.width));
      }
      in = stage.width;
      if (i + 1 == shape.down.size()) continue;
      const Conv2d::Shape halving{.in = in, .out = in, .kernel = 3, .stride = 2, .padding = 1};
      block.sampler = Conv2d(b, name + ".downsamplers.0.conv", halving);
    }
  }

  void make_up(Builder& b, const UnetShape& shape) {
    std::int64_t before = shape.up.front().width;
    for (std::size_t i = 0; i < shape.up.size(); ++i) {
      const UnetShape::Stage& stage = shape.up[i];
      const std::string name = "up_blocks." + std::to_string(i);
      const std::int64_t last =
          shape.up[std::min(i + 1, shape.up.size() - 1)].width;  // Left by the stage that ends so.
      Block& block = up_.emplace_back();
      make_transformers(b, shape, stage, name, block);
      for (std::int64_t k = 0; k < stage.resnets; ++k) {
        const std::int64_t own = k == 0 ? before : stage.width;
        const std::int64_t left = k + 1 == stage.resnets ? last : stage.width;
        block.resnets.emplace_back(b, name + ".resnets." + std::to_string(k), shape.resnet(own + left, stage.width));
      }
      before = stage.width;
      if (i + 1 == shape.up.size()) continue;
      const Conv2d::Shape same{.in = before, .out = before, .kernel = 3, .padding = 1};
      block.sampler = Conv2d(b, name + ".upsamplers.0.conv", same);
    }
  }

  void make_middle(Builder& b, const UnetShape& shape) {
    UnetShape::Stage stage = shape.down.back();
    middle_.transformers.emplace_back(b, "mid_block.attentions.0", shape.transformer(stage));
    for (const char* name : {"mid_block.resnets.0", "mid_block.resnets.1"})
      middle_.resnets.emplace_back(b, name, shape.resnet(stage.width, stage.width));
  }

  static void make_transformers(Builder& b, const UnetShape& shape, const UnetShape::Stage& stage,
                                const std::string& name, Block& block) {
    for (std::int64_t k = 0; stage.attends && k < stage.resnets; ++k)
      block.transformers.emplace_back(b, name + ".attentions." + std::to_string(k), shape.transformer(stage));
  }

  std::vector<Block> down_{};
  std::vector<Block> up_{};
  Block middle_{};
};

}  // namespace

extern const OpType unet_blocks;
const OpType unet_blocks{"unet_blocks", make_module<UnetBlocks>};

}  // namespace oomplan::estimator::ops
