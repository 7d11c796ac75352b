#include "modules/unsloth_lora.hpp"

#include <algorithm>

#include "torch/unsloth.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::size_t first_adapter = 1;  // Of a node's inputs and of what it saves: x, then A and B of each layer.
constexpr int saved_gate = 7;
constexpr int saved_up = 8;

std::int64_t rows_of(const Tensor& x) { return x->numel() / x->sizes.back(); }

std::int64_t rank_of(const Linear& layer) { return layer.lora_a()->sizes[0]; }

Dims with_width(Dims sizes, std::int64_t width) {
  sizes[sizes.size() - 1] = width;
  return sizes;
}

/// The weight of a product of matmul_lora.
Tensor buffered_weight(Torch& t, const Facts& facts, const Linear& layer) {
  if (layer.absmax_blocks() == 0) return layer.weight(facts);
  return t.unsloth->dequantize({layer.out_width(), layer.in_width()}, layer.absmax_blocks(), facts.quantized_compute);
}

/// A product of all rows with an adapter's matrix, which goes into another one.
void narrow(Torch& t, const Linear& layer, const Tensor& x) {
  t.empty({rows_of(x), rank_of(layer)}, x->dtype, "aten::mm");
}

/// matmul_lora: x·Wᵗ, then the adapters' product added in place.
Tensor product(Torch& t, const Facts& facts, const Linear& layer, const Tensor& x) {
  const Tensor weight = buffered_weight(t, facts, layer);
  Tensor out = t.empty(with_width(x->sizes, layer.out_width()), x->dtype, "aten::mm");
  t.to(layer.lora_a(), x->dtype);
  const Tensor narrowed = t.empty({rows_of(x), rank_of(layer)}, x->dtype, "aten::mm");
  t.to(layer.lora_b(), x->dtype);
  return out;
}

/// The gradients of one layer's adapters, in the input's dtype; torch.empty_like of all comes first.
void fill_adapters(Torch& t, const Linear& layer, const Tensor& x) {
  narrow(t, layer, x);
  narrow(t, layer, x);
}

}  // namespace

UnslothLora::UnslothLora(std::initializer_list<const Linear*> members) {
  for (const Linear* m : members) members_[static_cast<std::size_t>(count_++)] = m;
}

bool UnslothLora::complete() const {
  return count_ > 0 && std::all_of(members_.begin(), members_.begin() + count_, [](auto* m) { return m->adapted(); });
}

bool UnslothLora::partial() const {
  return !complete() && std::any_of(members_.begin(), members_.begin() + count_, [](auto* m) { return m->adapted(); });
}

NodeRef UnslothLora::record(Play& play, const char* name, const Tensor& x, BackwardFn backward) const {
  facts_ = &play.facts;
  const Tensor none;
  const auto a = [&](std::size_t i) { return i < count() ? &member(i).lora_a() : &none; };
  const auto b = [&](std::size_t i) { return i < count() ? &member(i).lora_b() : &none; };
  NodeRef node = play.torch.record(name, {&x, a(0), b(0), a(1), b(1), a(2), b(2)}, backward);
  if (!node) return node;
  node->module = this;
  play.torch.save(node, 0, x);
  for (std::size_t i = 0; i < count(); ++i) {
    play.torch.save(node, static_cast<int>(first_adapter + 2 * i), member(i).lora_a());
    play.torch.save(node, static_cast<int>(first_adapter + 2 * i + 1), member(i).lora_b());
  }
  return node;
}

std::array<Tensor, 6> UnslothLora::cast_adapters(Torch& t, Node& n, DType dtype) const {
  std::array<Tensor, 6> out{};
  for (std::size_t i = 0; i < 2 * count(); ++i) out[i] = t.to(t.unpack(n, static_cast<int>(first_adapter + i)), dtype);
  return out;
}

std::array<Tensor, 3> UnslothLora::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  NodeRef node = record(play, count_ == 1 ? "LoRA_WBackward" : "LoRA_QKVBackward", x, products_backward);
  std::array<Tensor, 3> out{};
  {
    Restore no_grad(t.grad_enabled, false);
    for (std::size_t i = 0; i < count(); ++i) out[i] = product(t, play.facts, member(i), x);
  }
  for (std::size_t i = 0; i < count(); ++i) out[i] = t.attach(node, std::move(out[i]), static_cast<int>(i));
  return out;
}

void UnslothLora::products_backward(Torch& t, Node& n, Grads& g) {
  const auto& self = *static_cast<const UnslothLora*>(n.module);
  const Tensor x = t.unpack(n, 0);
  const std::array<Tensor, 6> adapters = self.cast_adapters(t, n, x->dtype);
  for (std::size_t i = 0; i < 2 * self.count(); ++i) {
    g.out[first_adapter + i] = t.empty(adapters[i]->sizes, x->dtype, "aten::empty_like");
  }
  for (std::size_t i = 0; i < self.count(); ++i) fill_adapters(t, self.member(i), x);
  if (!n.needs(0)) return;
  const bool over_input = self.count_ > 1;
  if (over_input) g.out[0] = t.view(x, x->sizes);
  for (std::size_t i = 0; i < self.count(); ++i) {
    const Tensor weight = self.member(i).dequantized_weight(t, *self.facts_);
    if (!g.out[0]) g.out[0] = t.empty(x->sizes, x->dtype, "aten::mm");
  }
}

Tensor UnslothLora::mlp(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  NodeRef node = record(play, "LoRA_MLPBackward", x, mlp_backward);
  Tensor out;
  {
    Restore no_grad(t.grad_enabled, false);
    const Tensor gate = product(t, play.facts, member(0), x);
    const Tensor up = product(t, play.facts, member(1), x);
    const Tensor hidden = t.pointwise({&gate, &up}, x->dtype, "unsloth::swiglu_fg");
    out = product(t, play.facts, member(2), hidden);
    t.save(node, saved_gate, gate);
    t.save(node, saved_up, up);
  }
  return t.attach(node, std::move(out));
}

void UnslothLora::mlp_backward(Torch& t, Node& n, Grads& g) {
  const auto& self = *static_cast<const UnslothLora*>(n.module);
  const Facts& facts = *self.facts_;
  const Tensor x = t.unpack(n, 0);
  const Tensor gate = t.unpack(n, saved_gate);
  const Tensor up = t.unpack(n, saved_up);
  const std::array<Tensor, 6> adapters = self.cast_adapters(t, n, x->dtype);
  // Becomes the activation; the saved gate and up become their gradients.
  const Linear& down = self.member(2);
  Tensor of_down;
  {
    const Tensor weight = buffered_weight(t, facts, down);
    of_down = t.empty(with_width(x->sizes, down.in_width()), x->dtype, "aten::mm");
    narrow(t, down, x);
  }
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    g.out[first_adapter + i] = t.empty(adapters[i]->sizes, x->dtype, "aten::empty_like");
  }
  for (const std::size_t k : {2, 1, 0}) fill_adapters(t, self.member(k), x);
  if (!n.needs(0)) return;
  g.out[0] = t.view(x, x->sizes);
  for (const std::size_t k : {1, 0}) self.member(k).dequantized_weight(t, facts);
}

}  // namespace oomplan::estimator
