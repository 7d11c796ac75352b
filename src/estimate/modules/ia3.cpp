// peft/tuners/ia3/layer.py and bnb.py: a factor for each of a layer's outputs, or for each of its inputs where it is
// one of feedforward_modules.
#include <algorithm>

#include "modules/linear_adapter.hpp"

namespace oomplan::estimator {
namespace {

class Ia3 final : public LinearAdapter {
 public:
  Ia3(Tensor factors, bool scales_input, bool quantized)
      : factors_(std::move(factors)), scales_input_(scales_input), quantized_(quantized) {}

  Tensor operator()(Play& play, const Tensor& x, const Base& base) const override {
    if (quantized_) return over_quantized(play, x, base);
    Torch& t = play.torch;
    const Tensor scaling = t.mul_scalar(t.view(factors_, {-1}));  // 1 *= …
    if (scales_input_) {
      const Tensor raised = t.to(x, factors_->dtype);
      const Tensor scaled = t.to(t.mul(raised, scaling), x->dtype);
      return base(scaled);
    }
    Tensor result = base(x);
    result = t.to(t.mul(result, scaling), result->dtype);
    return result;
  }

 private:
  Tensor over_quantized(Play& play, const Tensor& given, const Base& base) const {
    Torch& t = play.torch;
    const Tensor scaling = t.mul_scalar(t.view(factors_, {-1}));
    const bool converts = !t.autocast() && given->dtype != DType::fp32;
    const Tensor x = converts ? t.to(given, DType::fp32) : given;
    Tensor result = base(scales_input_ ? t.mul(x, scaling) : x);
    const DType expected = result->dtype;
    if (!scales_input_) result = t.mul(result, scaling);
    if (!play.facts.int8) result = t.clone(result);
    return converts ? t.to(result, expected) : result;
  }

  Tensor factors_;
  bool scales_input_;
  bool quantized_;
};

}  // namespace

// IA3Model._check_target_module_feedforward, of a list of names.
LinearAdapterPtr adapters::ia3(Builder& builder, const AdaptedLinear& layer) {
  const std::string full = builder.path(layer.name);
  const bool scales_input =
      std::ranges::any_of(builder.facts.feedforward, [&](const std::string& name) { return full.ends_with(name); });
  const Dims sizes = scales_input ? Dims{1, layer.in} : Dims{layer.out, 1};
  const Tensor factors = builder.adapter_weight(layer.name + ".ia3_l", sizes, layer.dtype);
  return std::make_shared<const Ia3>(factors, scales_input, builder.quantized(layer.name));
}

}  // namespace oomplan::estimator
