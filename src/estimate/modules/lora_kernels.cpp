#include "modules/lora_kernels.hpp"

namespace oomplan::estimator {
namespace {

Dims with_width(Dims sizes, std::int64_t width) {
  sizes[sizes.size() - 1] = width;
  return sizes;
}

Tensor in_dtype(Torch& t, const Tensor& x, DType dtype, const char* op) {
  return t.empty(x->sizes, dtype, op);
}

/// matmul_lora: x·Wᵗ, then the adapters' product added in place.
Tensor product(Torch& t, const Facts& facts, const Linear& layer, const Tensor& x) {
  Tensor out;
  {
    const Tensor weight = layer.dequantized_weight(t, facts);
    out = t.empty(with_width(x->sizes, layer.out_width()), x->dtype, "aten::mm");
  }
  const Tensor a = in_dtype(t, layer.lora_a(), x->dtype, "aten::_to_copy");
  const Tensor b = in_dtype(t, layer.lora_b(), x->dtype, "aten::_to_copy");
  const Tensor down = t.empty({x->numel() / x->sizes.back(), a->sizes[0]}, x->dtype, "aten::mm");
  return out;
}

/// The gradients of one layer's adapters, in the input's dtype.
void adapter_gradients(Torch& t, const Linear& layer, const Tensor& x, Grads& g, std::size_t at) {
  const std::int64_t rows = x->numel() / x->sizes.back();
  const Tensor down = t.empty({rows, layer.lora_a()->sizes[0]}, x->dtype, "aten::mm");
  g.out[at] = in_dtype(t, layer.lora_a(), x->dtype, "aten::mm");
  g.out[at + 1] = in_dtype(t, layer.lora_b(), x->dtype, "aten::mm");
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

NodeRef FusedLora::record(Play& play, const char* name, const Tensor& x, const Tensor& dropped,
                          BackwardFn backward) const {
  facts_ = &play.facts;
  Torch& t = play.torch;
  const Tensor none;
  const auto a = [&](std::size_t i) { return members_[i] != nullptr ? &members_[i]->lora_a() : &none; };
  const auto b = [&](std::size_t i) { return members_[i] != nullptr ? &members_[i]->lora_b() : &none; };
  NodeRef node = t.record(name, {&x, &dropped, a(0), b(0), a(1), b(1), a(2), b(2)}, backward);
  if (node) node->module = this;
  t.save(node, 0, x);
  t.save(node, 1, dropped);
  for (int i = 0; node && i < count_; ++i) {
    const Linear& layer = *members_[static_cast<std::size_t>(i)];
    t.save_output(node, 2 + 2 * i, in_dtype(t, layer.lora_a(), x->dtype, "aten::_to_copy"));
    t.save_output(node, 3 + 2 * i, in_dtype(t, layer.lora_b(), x->dtype, "aten::_to_copy"));
  }
  return node;
}

std::array<Tensor, 3> FusedLora::operator()(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  const Tensor dropped = t.dropout(x, play.facts.lora_dropout);
  NodeRef node = record(play, "LoRA_QKVBackward", x, play.facts.lora_dropout > 0.0 ? dropped : Tensor(),
                        &FusedLora::products_backward);
  std::array<Tensor, 3> out{};
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) out[i] = product(t, play.facts, *members_[i], x);
  for (int i = 0; i < count_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    out[k] = t.attach(node, std::move(out[k]), i);
  }
  return out;
}

void FusedLora::products_backward(Torch& t, Node& n, Grads& g) {
  const auto& self = *static_cast<const FusedLora*>(n.module);
  const Tensor x = t.unpack(n, 0);
  const bool dropout = n.needs(1);
  for (int i = 0; i < self.count_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    adapter_gradients(t, *self.members_[k], x, g, first_adapter + 2 * k);
  }
  if (n.needs(0)) {
    for (int i = 0; i < self.count_; ++i) {
      input_gradient(t, *self.facts_, *self.members_[static_cast<std::size_t>(i)], x, g.out[0]);
    }
  }
  if (dropout) g.out[1] = t.zeros(x->sizes, x->dtype);
}

Tensor FusedLora::mlp(Play& play, const Tensor& x) const {
  Torch& t = play.torch;
  const Tensor dropped = t.dropout(x, play.facts.lora_dropout);
  NodeRef node = record(play, "LoRA_MLPBackward", x, play.facts.lora_dropout > 0.0 ? dropped : Tensor(),
                        &FusedLora::mlp_backward);
  const Tensor gate = product(t, play.facts, *members_[0], x);
  const Tensor up = product(t, play.facts, *members_[1], x);
  const Tensor hidden = t.pointwise({&gate, &up}, x->dtype, "swiglu_forward");
  Tensor out = product(t, play.facts, *members_[2], hidden);
  t.save_output(node, 8, gate);
  t.save_output(node, 9, up);
  return t.attach(node, std::move(out));
}

void FusedLora::mlp_backward(Torch& t, Node& n, Grads& g) {
  const auto& self = *static_cast<const FusedLora*>(n.module);
  const Tensor x = t.unpack(n, 0);
  const Tensor gate = t.unpack(n, 8);
  const Tensor up = t.unpack(n, 9);
  const Facts& facts = *self.facts_;
  Tensor grad_down;  // Becomes the activation; the saved gate and up become their gradients.
  {
    const Tensor weight = self.members_[2]->dequantized_weight(t, facts);
    Dims sizes = x->sizes;
    sizes[sizes.size() - 1] = self.members_[0]->out_width();
    grad_down = t.empty(sizes, x->dtype, "aten::mm");
  }
  for (std::size_t k = 0; k < 3; ++k) {
    adapter_gradients(t, *self.members_[k], k == 2 ? grad_down : x, g, first_adapter + 2 * k);
  }
  if (n.needs(0)) {
    input_gradient(t, facts, *self.members_[1], x, g.out[0]);
    input_gradient(t, facts, *self.members_[0], x, g.out[0]);
  }
  if (n.needs(1)) g.out[1] = t.zeros(x->sizes, x->dtype);
}

}  // namespace oomplan::estimator
