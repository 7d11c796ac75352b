// A parameter that peft can adapt by itself (`target_parameters`): lora.ParamWrapper around its module.
#pragma once

#include <string>

#include "play.hpp"

namespace oomplan::estimator {

class AdaptedParameter {
 public:
  AdaptedParameter() = default;
  /// `name` is the parameter's ("mlp.experts.down_proj"); `rank_times` multiplies the plan's rank.
  AdaptedParameter(Builder& builder, const std::string& name, const Dims& sizes, Part part,
                   std::int64_t rank_times = 1);

  /// While one lives, the module sees the updated parameter, as inside ParamWrapper._activate_lora.
  class Active {
   public:
    Active(Play& play, const AdaptedParameter& parameter);
    /// The parameter as the module reads it: itself, or itself and its update, which is made at the first call.
    const Tensor& operator()();

   private:
    Play& play_;
    const AdaptedParameter& parameter_;
    Tensor left_{};
    Tensor right_{};  ///< Where left_ is nothing, the update itself.
    Tensor value_{};
  };

  const Tensor& plain() const { return weight_; }
  bool adapted(const Facts& facts) const { return bool(lora_a_) && !facts.adapters_off; }
  const Tensor& lora_a() const { return lora_a_; }
  const Tensor& lora_b() const { return lora_b_; }
  const Dims& sizes() const { return sizes_; }
  std::int64_t blocks() const { return blocks_; }
  /// The parameter, of which a quantized one has only these sizes dequantized.
  Tensor for_experts(Play& play, const Dims& sizes) const;

 private:
  bool quantize(Builder& builder, const std::string& name, const Dims& sizes, Part part);
  Tensor updated(Torch& t, const Tensor& left, const Tensor& right) const;

  Tensor dequantized(Play& play) const;

  Tensor weight_{};  ///< Empty where it is quantized.
  Dims sizes_{};
  std::int64_t blocks_ = 0;  ///< Of a quantized one, those that have a scale: of 64 elements in 4 bits, rows in 8.
  Tensor lora_a_{};
  Tensor lora_b_{};
};

}  // namespace oomplan::estimator
