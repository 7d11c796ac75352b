#include "modules/adapted_parameter.hpp"

#include "modules/four_bits.hpp"

namespace oomplan::estimator {
namespace {

/// (product * scaling).to(dtype), each let go as soon as the next is made.
Tensor times_scaling(Torch& t, Tensor product, DType dtype) {
  product = t.mul_scalar(product);
  return t.to(product, dtype);
}

/// replace_parameter_8bit, by bitsandbytes' int8_vectorwise_quant; how many rows it has, each with a scale.
std::int64_t store_rows_of_int8(Builder& b, const Dims& sizes) {
  const Tensor half = b.torch.empty(sizes, DType::fp16, "aten::_to_copy");
  const std::int64_t rows = saturating_mul(sizes[0], sizes[1]);
  b.quantized_storage({rows}, DType::fp32);
  b.quantized_storage(sizes, DType::int8);
  return rows;
}

}  // namespace

AdaptedParameter::AdaptedParameter(Builder& b, const std::string& name, const Dims& sizes, Part part,
                                   std::int64_t rank_times)
    : sizes_(sizes) {
  const bool by_kernel = b.facts.experts == ExpertsImplementation::scattermoe;
  if (!quantize(b, name, sizes, part)) {
    weight_ = b.weight(name, sizes, part);
  } else if (!by_kernel) {
    return;
  }
  if (!b.parameter_targeted(name)) return;
  const bool of_experts = sizes.size() == 3;
  const std::int64_t groups = of_experts ? sizes[0] : 1;
  const std::int64_t rank = saturating_mul(saturating_mul(b.facts.lora_rank, rank_times), groups);
  const std::int64_t in = sizes.back();
  const std::int64_t out = of_experts ? sizes[1] : sizes[0];
  lora_a_ = b.adapter_weight(name + ".lora_A", {rank, in}, b.facts.adapter);
  lora_b_ = b.adapter_weight(name + ".lora_B", {out, rank}, b.facts.adapter);
}

// axolotl 0.18.0, monkeypatch/moe_quant.py: each is put on the GPU as it was and then quantized.
bool AdaptedParameter::quantize(Builder& b, const std::string& name, const Dims& sizes, Part part) {
  if (!b.facts.quantized_experts || part != Part::expert || sizes.size() != 3) return false;
  const std::int64_t elements = saturating_mul(saturating_mul(sizes[0], sizes[1]), sizes[2]);
  b.loads(name, b.facts.int8 ? elements : divided_up(elements, 2));
  const Tensor loaded = b.torch.empty(sizes, b.facts.weights, "aten::_to_copy");
  blocks_ = b.facts.int8 ? store_rows_of_int8(b, sizes) : store_four_bits(b, elements);
  b.count(elements, false);
  return true;
}

// ParamWrapper.get_delta_factors of experts, get_delta_weight of a matrix; then parametrize.register_parametrization,
// which computes the parameter once to look at its shape.
AdaptedParameter::Active::Active(Play& play, const AdaptedParameter& parameter) : play_(play), parameter_(parameter) {
  if (!parameter.adapted(play.facts)) return;
  Torch& t = play.torch;
  const Tensor& weight = parameter.weight_;
  if (weight->dim() == 2) {
    right_ = times_scaling(t, t.matmul(parameter.lora_b_, parameter.lora_a_), weight->dtype);
  } else {
    const std::int64_t experts = weight->sizes[0];
    const Tensor a = t.reshape(parameter.lora_a_, {experts, -1, weight->sizes[2]});
    const Tensor b = t.permute(t.reshape(parameter.lora_b_, {weight->sizes[1], -1, experts}), {2, 0, 1});
    const bool folded = play.facts.update == ParameterUpdate::folded;
    // get_delta_weight of 0.19: torch.einsum("o r e, e r i -> e o i", …), times a number.
    right_ = folded ? t.to(a, weight->dtype) : times_scaling(t, t.bmm(b, a), weight->dtype);
    if (folded) left_ = t.to(b, weight->dtype);
  }
  parameter.updated(t, left_, right_);
}

const Tensor& AdaptedParameter::Active::operator()() {
  if (!value_ && parameter_.blocks_ != 0) value_ = parameter_.dequantized(play_);
  if (value_) return value_;
  if (!right_) return parameter_.weight_;
  value_ = parameter_.updated(play_.torch, left_, right_);
  return value_;
}

// bitsandbytes/nn/parametrize.py and moe_quant.py's Bnb8bitParametrization, which keep it until forward is over. The
// latter multiplies in fp32, by the scales and then by a number.
Tensor AdaptedParameter::dequantized(Play& play) const {
  const Facts& facts = play.facts;
  if (!facts.int8) return estimator::dequantized(play.torch, sizes_, blocks_, facts.double_quantized, facts.weights);
  const Tensor scaled = play.torch.empty(sizes_, DType::fp32, "aten::mul");
  return play.torch.empty(sizes_, DType::fp32, "aten::mul");
}

Tensor AdaptedParameter::for_experts(Play& play, const Dims& sizes) const {
  if (blocks_ == 0) return weight_;
  return estimator::dequantized(play.torch, sizes, blocks_, play.facts.double_quantized, play.facts.weights);
}

Tensor AdaptedParameter::updated(Torch& t, const Tensor& left, const Tensor& right) const {
  t.enter_autocast(std::nullopt);  // What stands for a parameter may not change its dtype.
  Tensor out = left ? t.baddbmm(weight_, left, right) : t.add(weight_, right);
  t.exit_autocast();
  return out;
}

}  // namespace oomplan::estimator
