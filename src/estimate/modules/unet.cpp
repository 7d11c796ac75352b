#include "modules/unet.hpp"

#include "modules/checkpointed.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t feed_forward_factor = 4;

Conv2d three_by_three(Builder& b, const std::string& name, std::int64_t in, std::int64_t out) {
  return {b, name, {.in = in, .out = out, .kernel = 3, .padding = 1}};
}

}  // namespace

UnetResnet::UnetResnet(Builder& b, const std::string& name, const Shape& shape)
    : dropout_(shape.dropout),
      module_(b.module_id(name)),
      norm1_(b, name + ".norm1", shape.groups, shape.in),
      conv1_(three_by_three(b, name + ".conv1", shape.in, shape.out)),
      time_(b, name + ".time_emb_proj", shape.time, shape.out, true),
      norm2_(b, name + ".norm2", shape.groups, shape.out),
      conv2_(three_by_three(b, name + ".conv2", shape.out, shape.out)),
      changes_(shape.in != shape.out) {
  if (changes_) shortcut_ = Conv2d(b, name + ".conv_shortcut", {.in = shape.in, .out = shape.out});
}

Tensor UnetResnet::operator()(Play& play, const Tensor& x, const Tensor& time) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Tensor hidden = norm1_(play, x);
  hidden = t.silu(hidden);
  hidden = conv1_(play, hidden);
  Tensor shift = t.silu(time);
  shift = time_(play, shift);
  shift = t.unsqueeze(t.unsqueeze(shift, 2), 3);
  hidden = t.add(hidden, shift);
  hidden = norm2_(play, hidden);
  hidden = t.silu(hidden);
  hidden = t.dropout(hidden, dropout_);
  hidden = conv2_(play, hidden);
  const Tensor input = changes_ ? shortcut_(play, t.contiguous(x)) : x;
  return t.div_scalar(t.add(input, hidden));  // By output_scale_factor.
}

UnetTransformerBlock::UnetTransformerBlock(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads,
                                           std::int64_t text)
    : inner_(saturating_mul(width, feed_forward_factor)),
      module_(b.module_id(name)),
      norm1_(b, name + ".norm1", width),
      attn1_(b, name + ".attn1", {.width = width, .of = width, .heads = heads}),
      norm2_(b, name + ".norm2", width),
      attn2_(b, name + ".attn2", {.width = width, .of = text, .heads = heads}),
      norm3_(b, name + ".norm3", width),
      up_(b, name + ".ff.net.0.proj", width, saturating_mul(2, inner_), true),
      down_(b, name + ".ff.net.2", inner_, width, true) {}

Tensor UnetTransformerBlock::operator()(Play& play, const Tensor& x, const Tensor& text) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  Tensor normed = norm1_(play, x);
  Tensor attended = attn1_(play, normed, {});
  Tensor hidden = t.add(attended, x);
  normed = norm2_(play, hidden);
  attended = attn2_(play, normed, text);
  hidden = t.add(attended, hidden);
  normed = norm3_(play, hidden);
  const Tensor fed = feed_forward(play, normed);
  return t.add(fed, hidden);
}

/// FeedForward with GEGLU.
Tensor UnetTransformerBlock::feed_forward(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  Tensor hidden;
  {
    const Tensor both = up_(play, x);
    const std::vector<Tensor> parts = t.split(both, inner_, 2);
    hidden = t.mul(parts[0], t.gelu(parts[1]));
  }
  return down_(play, hidden);
}

UnetTransformer::UnetTransformer(Builder& b, const std::string& name, const Shape& shape)
    : width_(shape.width),
      linear_(shape.linear),
      module_(b.module_id(name)),
      norm_(b, name + ".norm", shape.groups, shape.width) {
  const Conv2d::Shape one{.in = shape.width, .out = shape.width};
  if (linear_) {
    proj_in_ = Linear(b, name + ".proj_in", shape.width, shape.width, true);
  } else {
    conv_in_ = Conv2d(b, name + ".proj_in", one);
  }
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    const std::string block = name + ".transformer_blocks." + std::to_string(i);
    blocks_.emplace_back(b, block, shape.width, shape.heads, shape.text);
  }
  if (linear_) {
    proj_out_ = Linear(b, name + ".proj_out", shape.width, shape.width, true);
  } else {
    conv_out_ = Conv2d(b, name + ".proj_out", one);
  }
}

Tensor UnetTransformer::operator()(Play& play, const Tensor& x, const Tensor& text) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  const Dims& sizes = x->sizes;
  const Dims rows{sizes[0], saturating_mul(sizes[2], sizes[3]), width_};
  Tensor hidden = norm_(play, x);
  if (!linear_) hidden = conv_in_(play, hidden);
  hidden = t.reshape(t.permute(hidden, {0, 2, 3, 1}), rows);
  if (linear_) hidden = proj_in_(play, hidden);
  for (const UnetTransformerBlock& block : blocks_) {
    hidden = checkpointed(play, hidden, [&block, text](Play& p, const Tensor& input) { return block(p, input, text); });
  }
  const Tensor last = hidden;  // The caller's variable, of what makes the output.
  if (linear_) hidden = proj_out_(play, hidden);
  hidden = t.reshape(hidden, {sizes[0], sizes[2], sizes[3], width_});
  hidden = t.contiguous(t.permute(hidden, {0, 3, 1, 2}));
  if (!linear_) hidden = conv_out_(play, hidden);
  return t.add(hidden, x);
}

}  // namespace oomplan::estimator
