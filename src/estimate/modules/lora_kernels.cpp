#include "modules/lora_kernels.hpp"

namespace oomplan::estimator {
namespace {

Dims with_width(Dims sizes, std::int64_t width) {
  sizes[sizes.size() - 1] = width;
  return sizes;
}

std::int64_t rows_of(const Tensor& x) { return x->numel() / x->sizes.back(); }

std::int64_t rank_of(const Linear& layer) { return layer.lora_a()->sizes[0]; }

/// matmul_lora: x·Wᵗ, then the adapters' product added in place.
Tensor product(Torch& t, const Facts& facts, const Linear& layer, const Tensor& x) {
  Tensor out;
  {
    const Tensor weight = layer.dequantized_weight(t, facts);
    out = t.empty(with_width(x->sizes, layer.out_width()), x->dtype, "aten::mm");
  }
  const Tensor a = t.to(layer.lora_a(), x->dtype);
  const Tensor b = t.to(layer.lora_b(), x->dtype);
  t.empty({rows_of(x), rank_of(layer)}, x->dtype, "aten::mm");
  return out;
}

/// The same for grad·W, whose adapters have been cast already.
Tensor transposed_product(Torch& t, const Facts& facts, const Linear& layer, const Tensor& grad) {
  Tensor out;
  {
    const Tensor weight = layer.dequantized_weight(t, facts);
    out = t.empty(with_width(grad->sizes, layer.in_width()), grad->dtype, "aten::mm");
  }
  t.empty({rows_of(grad), rank_of(layer)}, grad->dtype, "aten::mm");
  return out;
}

/// The gradients of one layer's adapters, in the input's dtype. Returns grad·B, which has a name until the end.
Tensor adapter_gradients(Torch& t, const Linear& layer, const Tensor& x, Grads& g, std::size_t at) {
  Tensor grad_b = t.empty({rows_of(x), rank_of(layer)}, x->dtype, "aten::mm");
  g.out[at] = t.empty(layer.lora_a()->sizes, x->dtype, "aten::empty_like");
  g.out[at + 1] = t.empty(layer.lora_b()->sizes, x->dtype, "aten::empty_like");
  t.empty({rank_of(layer), rows_of(x)}, x->dtype, "aten::mm");
  return grad_b;
}

/// grad·W added to `into`, or made where there is none yet.
void input_gradient(Torch& t, const Facts& facts, const Linear& layer, const Tensor& x, Tensor& into) {
  const Tensor weight = layer.dequantized_weight(t, facts);
  if (!into) into = t.empty(x->sizes, x->dtype, "aten::mm");
}

constexpr std::size_t first_adapter = 2;  // Of a node's inputs: x, x after dropout, then A and B of each layer.

}  // namespace

FusedLora::FusedLora(std::initializer_list<const Linear*> members) {
  for (const Linear* m : members) members_[static_cast<std::size_t>(count_++)] = m;
}

bool FusedLora::complete() const {
  for (int i = 0; i < count_; ++i) {
    if (!members_[static_cast<std::size_t>(i)]->adapted()) return false;
  }
  return count_ > 0;
}

/// get_lora_parameters
void FusedLora::ask(Play& play) const {
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    play.policy.unshard(play.torch, members_[i]->lora_a());
    play.policy.unshard(play.torch, members_[i]->lora_b());
  }
}

NodeRef FusedLora::record(Play& play, const char* name, const Tensor& x, const Tensor& dropped,
                          BackwardFn backward) const {
  facts_ = &play.facts;
  const Tensor none;
  const auto a = [&](std::size_t i) { return members_[i] != nullptr ? &members_[i]->lora_a() : &none; };
  const auto b = [&](std::size_t i) { return members_[i] != nullptr ? &members_[i]->lora_b() : &none; };
  NodeRef node = play.torch.record(
      name, {&x, dropped.get() != x.get() ? &dropped : &none, a(0), b(0), a(1), b(1), a(2), b(2)}, backward);
  if (node) node->module = this;
  return node;
}

// In the order of save_for_backward's arguments, which decides what is offloaded when.
void FusedLora::save(Torch& t, const NodeRef& node, const Tensor& x, const Tensor& dropped,
                     const std::array<Tensor, 2>& gate_up) const {
  // All are cast before the first is saved.
  std::array<Tensor, 6> cast{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    cast[2 * i] = t.to(members_[i]->lora_a(), x->dtype);
    cast[2 * i + 1] = t.to(members_[i]->lora_b(), x->dtype);
  }
  const auto save_inputs = [&] {
    t.save(node, 0, x);
    t.save(node, 1, dropped);
  };
  if (count_ > 1) save_inputs();
  t.save(node, 8, gate_up[0]);
  t.save(node, 9, gate_up[1]);
  for (int i = 0; i < 2 * count_; ++i) t.save(node, 2 + i, cast[static_cast<std::size_t>(i)]);
  if (count_ == 1) save_inputs();
}

std::array<Tensor, 3> FusedLora::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  ask(play);
  const Tensor dropped = t.dropout(x, play.facts.lora_dropout);
  NodeRef node = record(play, "LoRA_QKVBackward", x, dropped, &FusedLora::products_backward);
  std::array<Tensor, 3> out{};
  const auto count = static_cast<std::size_t>(count_);
  {
    Restore no_grad(t.grad_enabled, false);
    for (std::size_t i = 0; i < count; ++i) out[i] = product(t, play.facts, *members_[i], x);
    save(t, node, x, dropped);
  }
  for (std::size_t i = 0; i < count; ++i) out[i] = t.attach(node, std::move(out[i]), static_cast<int>(i));
  return out;
}

void FusedLora::products_backward(Torch& t, Node& n, Grads& g) {
  const auto& self = *static_cast<const FusedLora*>(n.module);
  const auto count = static_cast<std::size_t>(self.count_);
  const Tensor x = t.unpack(n, 0);
  const Tensor dropped = t.unpack(n, 1);
  std::array<Tensor, 6> adapters{};
  for (std::size_t i = 0; i < 2 * count; ++i) adapters[i] = t.unpack(n, static_cast<int>(i) + 2);
  std::array<Tensor, 3> grad_b{};
  for (std::size_t i = 0; i < count; ++i) {
    grad_b[i] = adapter_gradients(t, *self.members_[i], x, g, first_adapter + 2 * i);
  }
  for (std::size_t i = 0; i < count; ++i) input_gradient(t, *self.facts_, *self.members_[i], x, g.out[0]);
  if (!n.needs(1)) return;
  if (count > 1) {
    g.out[1] = t.zeros(x->sizes, x->dtype);
  } else {  // LoRA_O: (grad_B @ A * s)
    const Tensor unscaled = t.empty(x->sizes, x->dtype, "aten::mm");
    g.out[1] = t.mul_scalar(unscaled);
  }
}

Tensor FusedLora::mlp(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  ask(play);
  const Tensor dropped = t.dropout(x, play.facts.lora_dropout);
  NodeRef node = record(play, "LoRA_MLPBackward", x, dropped, &FusedLora::mlp_backward);
  Tensor out;
  {
    Restore no_grad(t.grad_enabled, false);
    const Tensor gate = product(t, play.facts, *members_[0], x);
    const Tensor up = product(t, play.facts, *members_[1], x);
    const Tensor hidden = t.pointwise({&gate, &up}, x->dtype, "axolotl::swiglu_fwd");
    out = product(t, play.facts, *members_[2], hidden);
    save(t, node, x, dropped, {gate, up});
  }
  return t.attach(node, std::move(out));
}

void FusedLora::mlp_backward(Torch& t, Node& n, Grads& g) {
  const auto& self = *static_cast<const FusedLora*>(n.module);
  const Facts& facts = *self.facts_;
  const Tensor x = t.unpack(n, 0);
  const Tensor dropped = t.unpack(n, 1);
  std::array<Tensor, 6> adapters{};
  for (std::size_t i = 0; i < adapters.size(); ++i) adapters[i] = t.unpack(n, static_cast<int>(i) + 2);
  const Tensor gate = t.unpack(n, 8);
  const Tensor up = t.unpack(n, 9);
  // Becomes the activation; the saved gate and up become their gradients.
  const Tensor grad_down = transposed_product(t, facts, *self.members_[2], g.in[0]);
  std::array<Tensor, 3> grad_b{};
  for (const std::size_t k : {2, 1, 0}) {
    grad_b[k] = adapter_gradients(t, *self.members_[k], k == 2 ? grad_down : x, g, first_adapter + 2 * k);
  }
  if (!n.needs(0)) return;
  input_gradient(t, facts, *self.members_[1], x, g.out[0]);
  input_gradient(t, facts, *self.members_[0], x, g.out[0]);
  if (n.needs(1)) g.out[1] = t.zeros(x->sizes, x->dtype);
}

}  // namespace oomplan::estimator
