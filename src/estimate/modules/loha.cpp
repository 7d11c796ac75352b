// peft/tuners/loha/layer.py: what is added to a weight is the product, element by element, of two of low rank.
#include <array>

#include "modules/linear_adapter.hpp"

namespace oomplan::estimator {
namespace {

/// HadaWeight
Tensor hada_weight(Torch& t, const std::array<Tensor, 4>& w) {
  NodeRef node = t.record("HadaWeightBackward", {&w[0], &w[1], &w[2], &w[3]}, [](Torch& torch, Node& n, Grads& g) {
    std::array<Tensor, 4> saved;
    for (int i = 0; i < 4; ++i) saved[static_cast<std::size_t>(i)] = torch.unpack(n, i);
    const Tensor grad = torch.mul_scalar(g.in[0]);
    Tensor temp = torch.mul(grad, torch.mm(saved[2], saved[3]));
    g.out[0] = torch.mm(temp, torch.t(saved[1]));
    g.out[1] = torch.mm(torch.t(saved[0]), temp);
    temp = torch.mul(grad, torch.mm(saved[0], saved[1]));
    g.out[2] = torch.mm(temp, torch.t(saved[3]));
    g.out[3] = torch.mm(torch.t(saved[2]), temp);
  });
  for (int i = 0; i < 4; ++i) t.save(node, i, w[static_cast<std::size_t>(i)]);
  Restore no_grad(t.grad_enabled, false);
  Tensor product;
  {
    const Tensor first = t.mm(w[0], w[1]);
    const Tensor second = t.mm(w[2], w[3]);
    product = t.mul(first, second);
  }
  return t.attach(node, t.mul_scalar(product));
}

class LoHa final : public AddedWeight {
 public:
  explicit LoHa(const std::array<Tensor, 4>& weights) : weights_(weights) {}

 private:
  Tensor weight(Torch& t) const override { return hada_weight(t, weights_); }

  std::array<Tensor, 4> weights_;
};

}  // namespace

LinearAdapterPtr adapters::loha(Builder& builder, const AdaptedLinear& layer) {
  const std::int64_t rank = builder.facts.lora_rank;
  const auto make = [&](const char* name, const Dims& sizes) {
    return builder.adapter_weight(layer.name + name, sizes, layer.dtype);
  };
  const Tensor a1 = make(".hada_w1_a", {layer.out, rank});
  const Tensor b1 = make(".hada_w1_b", {rank, layer.in});
  const Tensor a2 = make(".hada_w2_a", {layer.out, rank});
  const Tensor b2 = make(".hada_w2_b", {rank, layer.in});
  return std::make_shared<const LoHa>(std::array{a1, b1, a2, b2});
}

}  // namespace oomplan::estimator
