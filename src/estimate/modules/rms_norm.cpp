#include "modules/rms_norm.hpp"

#include <array>

#include "modules/hub_kernels.hpp"
#include "modules/liger.hpp"
#include "torch/fused_norm.hpp"

namespace oomplan::estimator {

RmsStyle rms_style(const Attributes& attributes, std::string_view name) {
  constexpr std::array<std::string_view, 10> names{
      "llama", "gemma", "in_fp32", "t5", "raised", "functional", "named", "named_offset", "raised_weight", "fused"};
  return static_cast<RmsStyle>(attributes.choice(name, names));
}

namespace {

Tensor llama(Torch& t, const Tensor& x, const Tensor& weight, bool in_fp32) {
  Tensor hidden = t.to(x, DType::fp32);
  const Tensor variance = t.mean_last(t.pow_scalar(hidden));
  Tensor scale = t.add_scalar(variance);
  scale = t.rsqrt(scale);
  hidden = t.mul(hidden, scale);
  scale.reset();
  if (in_fp32) return t.to(t.mul(weight, hidden), x->dtype);
  return t.mul(weight, t.to(hidden, x->dtype));
}

}  // namespace

Tensor RmsNorm::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  Restore module(t.recorder.scope.module, std::int32_t{module_});
  if (!weight_) return style_ == RmsStyle::gemma ? gemma(t, x) : raised(t, x);
  const Tensor entered = play.policy.enter_leaf(t, {&weight_}, x);
  // Unsloth's backward writes over the output's gradient, but for Gemma's norms.
  const bool in_place = play.facts.unsloth ? style_ != RmsStyle::gemma : !play.facts.liger_norm_copies;
  const auto output = [&] {
    const bool from_hub = takes_hub_kernels(play.facts) && style_ == RmsStyle::llama;
    if (play.facts.liger_rms_norm || from_hub) return liger::rms_norm(t, entered, weight_, in_place);
    if (style_ == RmsStyle::fused && entered->dtype == weight_->dtype) return fused_rms_norm(t, entered, weight_);
    if (style_ == RmsStyle::fused) return functional(t, entered);
    if (style_ == RmsStyle::gemma) return gemma(t, entered);
    if (style_ == RmsStyle::t5) return t5(t, entered);
    if (style_ == RmsStyle::raised) return raised(t, entered);
    if (style_ == RmsStyle::functional && !play.facts.python_norms) return functional(t, entered);
    if (style_ == RmsStyle::named || style_ == RmsStyle::named_offset) return named(t, entered);
    if (style_ == RmsStyle::raised_weight) return llama(t, entered, t.to(weight_, DType::fp32), true);
    return llama(t, entered, weight_, style_ == RmsStyle::in_fp32);
  };
  return play.policy.leave_leaf(t, {&weight_}, output());
}

// The sum of squares alone is in fp32; what it scales is the input as it is.
Tensor RmsNorm::t5(Torch& t, const Tensor& x) const {
  const Tensor variance = t.mean_last(t.pow_scalar(t.to(x, DType::fp32)));
  Tensor scale = t.add_scalar(variance);
  scale = t.rsqrt(scale);
  Tensor hidden = t.mul(x, scale);
  scale.reset();
  if (bytes_of(weight_->dtype) == 2) hidden = t.to(hidden, weight_->dtype);
  return t.mul(weight_, hidden);
}

Tensor RmsNorm::raised(Torch& t, const Tensor& x) const {
  Tensor output;
  {  // _norm
    const Tensor hidden = t.to(x, DType::fp32);
    const Tensor mean_squared = t.add_scalar(t.mean_last(t.pow_scalar(hidden)));
    output = t.mul(hidden, t.pow_scalar(mean_squared));
  }
  if (weight_) output = t.mul(output, t.to(weight_, DType::fp32));
  return t.to(output, x->dtype);
}

// aten/src/ATen/native/layer_norm.cpp: rms_norm_composite, which an fp32 input goes to beside a weight of 16 bits.
Tensor RmsNorm::functional(Torch& t, const Tensor& x) const {
  const Tensor hidden = t.to(x, DType::fp32);
  Tensor output;
  {
    const Tensor scale = t.rsqrt(t.mean_last(t.pow_scalar(hidden)));
    output = t.mul(hidden, scale);
    output = t.mul(output, weight_);
  }
  return t.to(output, x->dtype);
}

Tensor RmsNorm::named(Torch& t, const Tensor& input) const {
  const Tensor x = t.to(input, DType::fp32);
  const Tensor mean = t.mean_last(t.mul(x, x));
  const Tensor normed = t.mul(x, t.rsqrt(t.add_scalar(mean)));
  const Tensor weight = style_ == RmsStyle::named_offset ? t.add_scalar(weight_) : weight_;
  return t.to(t.mul(normed, t.to(weight, DType::fp32)), input->dtype);
}

Tensor RmsNorm::gemma(Torch& t, const Tensor& x) const {
  Tensor output;
  {  // _norm
    const Tensor hidden = t.to(x, DType::fp32);
    Tensor scale = t.mean_last(t.pow_scalar(hidden));
    scale = t.add_scalar(scale);
    scale = t.rsqrt(scale);
    output = t.mul(hidden, scale);
  }
  if (weight_) output = t.mul(output, t.add_scalar(t.to(weight_, DType::fp32)));
  return t.to(output, x->dtype);
}

}  // namespace oomplan::estimator
