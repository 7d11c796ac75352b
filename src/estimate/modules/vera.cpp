// peft/tuners/vera/layer.py: LoRA by two frozen matrices that all layers share, and two vectors of each layer's own.
#include <algorithm>
#include <utility>

#include "modules/linear_adapter.hpp"

namespace oomplan::estimator {
namespace {

class Vera final : public LinearAdapter {
 public:
  Vera(std::shared_ptr<const VeraShared> shared, const AdaptedLinear& layer, Tensor b, Tensor d, bool in_4_bits)
      : shared_(std::move(shared)),
        in_(layer.in),
        out_(layer.out),
        lambda_b_(std::move(b)),
        lambda_d_(std::move(d)),
        in_4_bits_(in_4_bits) {}

  Tensor operator()(Play& play, const Tensor& x, const Base& base) const override {
    Torch& t = play.torch;
    Tensor result = base(x);
    const DType dtype = result->dtype;
    if (in_4_bits_) result = t.clone(result);
    const Tensor a = t.slice(shared_->a, 1, 0, in_);
    const Tensor b = t.slice(shared_->b, 0, 0, out_);
    const Tensor input = t.to(x, lambda_d_->dtype);
    result = t.add(result, update(play, input, a, b));
    result = t.to(result, dtype);
    return t.to(result, x->dtype);
  }

 private:
  Tensor update(Play& play, const Tensor& input, const Tensor& a, const Tensor& b) const {
    Torch& t = play.torch;
    Tensor x = t.dropout(input, play.facts.lora_dropout);
    x = t.linear(x, a, {});
    x = t.mul(lambda_d_, x);
    x = t.linear(x, b, {});
    return t.mul(lambda_b_, x);
  }

  std::shared_ptr<const VeraShared> shared_;
  std::int64_t in_;
  std::int64_t out_;
  Tensor lambda_b_;
  Tensor lambda_d_;
  bool in_4_bits_;
};

}  // namespace

LinearAdapterPtr adapters::vera(Builder& builder, const AdaptedLinear& layer) {
  if (!builder.vera) builder.vera = std::make_shared<VeraShared>();
  builder.vera->in = std::max(builder.vera->in, layer.in);
  builder.vera->out = std::max(builder.vera->out, layer.out);
  const Tensor b = builder.adapter_weight(layer.name + ".vera_lambda_b", {layer.out}, layer.dtype);
  const Tensor d = builder.adapter_weight(layer.name + ".vera_lambda_d", {builder.facts.lora_rank}, layer.dtype);
  const bool in_4_bits = builder.quantized(layer.name) && !builder.facts.int8;
  return std::make_shared<const Vera>(builder.vera, layer, b, d, in_4_bits);
}

// VeraModel._find_dim. peft casts them with the layers' own to fp32; TRL casts what is trained alone.
void make_vera_shared(Builder& builder) {
  if (!builder.vera) return;
  VeraShared& shared = *builder.vera;
  const std::int64_t rank = builder.facts.lora_rank;
  shared.a = builder.quantized_storage({rank, shared.in}, DType::fp32);
  shared.b = builder.quantized_storage({shared.out, rank}, DType::fp32);
}

}  // namespace oomplan::estimator
