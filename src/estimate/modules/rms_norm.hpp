// RMS norms as transformers writes them in Python, line by line.
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

/// How a family's own RMSNorm scales what it has normalised in fp32.
enum class RmsStyle {
  llama,          ///< weight * hidden.to(input_dtype)
  gemma,          ///< (hidden * (1.0 + weight.float())).type_as(x)
  in_fp32,        ///< (weight * hidden).to(input_dtype), as OLMo 2
  t5,             ///< weight * hidden, of which only the sum of squares is in fp32
  raised,         ///< (hidden * weight.float()).type_as(x), as Gemma 4
  functional,     ///< torch.nn.functional.rms_norm(x.float(), weight).to(x.dtype), as torchtune 0.6.1
  named,          ///< (x_normed * weight.float()).to(dtype), each line with a name of its own, as litgpt
  named_offset,   ///< The same of 1 + weight.
  raised_weight,  ///< (weight.float() * hidden).to(input_dtype), as Nemotron H
  fused,          ///< torch.nn.RMSNorm over an input in its weight's dtype, as torchtitan
};

/// The style of that name ("llama", "gemma", "in_fp32", "t5", "raised", "functional", "named",
/// "named_offset", "raised_weight", "fused").
RmsStyle rms_style(const Attributes& attributes, std::string_view name);

class RmsNorm {
 public:
  RmsNorm() = default;
  RmsNorm(Builder& builder, const std::string& name, std::int64_t width, RmsStyle style = RmsStyle::llama)
      : weight_(builder.weight(name + ".weight", {width}, Part::norm)),
        module_(builder.module_id(name)),
        style_(style) {}
  /// Without a weight: Gemma 4's with_scale=False, or NanoChat's, which is Gemma's but for it.
  static RmsNorm unscaled(Builder& builder, const std::string& name, RmsStyle style = RmsStyle::raised) {
    RmsNorm out;
    out.module_ = builder.module_id(name);
    out.style_ = style;
    return out;
  }
  Tensor operator()(Play& play, const Tensor& x) const;
  explicit operator bool() const { return bool(weight_); }
  const Tensor& weight() const { return weight_; }

 private:
  Tensor gemma(Torch& t, const Tensor& x) const;
  Tensor t5(Torch& t, const Tensor& x) const;
  Tensor raised(Torch& t, const Tensor& x) const;
  Tensor functional(Torch& t, const Tensor& x) const;
  Tensor named(Torch& t, const Tensor& x) const;

  Tensor weight_{};
  std::int32_t module_ = -1;
  RmsStyle style_ = RmsStyle::llama;
};

}  // namespace oomplan::estimator
