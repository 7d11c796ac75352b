// peft/tuners/lokr/layer.py: what is added to a weight is the Kronecker product of a small matrix and of another, which
// is itself of low rank where it is large.
#include <algorithm>
#include <utility>

#include "modules/linear_adapter.hpp"

namespace oomplan::estimator {
namespace {

/// factorization(dimension, -1): the two factors that lie next to each other, the smaller one first.
std::pair<std::int64_t, std::int64_t> factors_of(std::int64_t dimension) {
  std::int64_t m = 1;
  for (std::int64_t i = 1; i <= dimension / i; ++i) {
    if (dimension % i == 0) m = i;
  }
  return {m, dimension / m};
}

class LoKr final : public AddedWeight {
 public:
  LoKr(Tensor w1, Tensor w2, Tensor w2_a, Tensor w2_b)
      : w1_(std::move(w1)), w2_(std::move(w2)), w2_a_(std::move(w2_a)), w2_b_(std::move(w2_b)) {}

 private:
  /// make_kron
  Tensor weight(Torch& t) const override {
    const Tensor w2 = w2_ ? w2_ : t.mm(w2_a_, w2_b_);
    const Dims of_left{w1_->sizes[0], 1, w1_->sizes[1], 1};
    const Dims of_right{1, w2->sizes[0], 1, w2->sizes[1]};
    const Tensor product = t.mul(t.view(w1_, of_left), t.view(w2, of_right));
    const std::int64_t rows = saturating_mul(product->sizes[0], product->sizes[1]);
    const std::int64_t columns = saturating_mul(product->sizes[2], product->sizes[3]);
    return t.mul_scalar(t.reshape(product, {rows, columns}));
  }

  Tensor w1_;
  Tensor w2_;  ///< Or, where it is of low rank, both of its factors.
  Tensor w2_a_;
  Tensor w2_b_;
};

}  // namespace

// LoKrLayer.update_layer, without decompose_both.
LinearAdapterPtr adapters::lokr(Builder& builder, const AdaptedLinear& layer) {
  const std::int64_t rank = builder.facts.lora_rank;
  const auto [in_m, in_n] = factors_of(layer.in);
  const auto [out_l, out_k] = factors_of(layer.out);
  const auto make = [&](const char* name, const Dims& sizes) {
    return builder.adapter_weight(layer.name + name, sizes, layer.dtype);
  };
  const Tensor w1 = make(".lokr_w1", {out_l, in_m});
  if (2 * rank >= std::max(out_k, in_n)) {
    return std::make_shared<const LoKr>(w1, make(".lokr_w2", {out_k, in_n}), Tensor(), Tensor());
  }
  const Tensor a = make(".lokr_w2_a", {out_k, rank});
  const Tensor b = make(".lokr_w2_b", {rank, in_n});
  return std::make_shared<const LoKr>(w1, Tensor(), a, b);
}

}  // namespace oomplan::estimator
