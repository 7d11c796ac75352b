#include "modules/activation.hpp"

#include <fmt/format.h>

#include <array>

namespace oomplan::estimator {
namespace {

/// NewGELUActivation, FastGELU's like: 0.5 * x * (1 + tanh(c * (x + 0.044715 * x^3))), op by op.
Tensor gelu_new(Torch& t, const Tensor& x) {
  const Tensor half = t.mul_scalar(x);
  Tensor inner = t.pow_scalar(x);
  inner = t.mul_scalar(inner);
  inner = t.add(x, inner);
  inner = t.mul_scalar(inner);
  inner = t.tanh(inner);
  inner = t.add_scalar(inner);
  return t.mul(half, inner);
}

/// 0.79788456 * x * (1 + 0.044715 * x * x), under tanh.
Tensor bloom_tanh(Torch& t, const Tensor& x) {
  Tensor scaled = t.mul_scalar(x);
  Tensor inner = t.mul_scalar(x);
  inner = t.mul(inner, x);
  inner = t.add_scalar(inner);
  inner = t.mul(scaled, inner);
  scaled.reset();
  return t.tanh(inner);
}

/// bloom_gelu_back.
void bloom_gelu_backward(Torch& t, Node& n, Grads& g) {
  const Tensor x = t.unpack(n, 0);
  const Tensor tanh = bloom_tanh(t, x);
  Tensor slope;
  {
    const Tensor half = t.mul_scalar(x);
    Tensor left = t.mul(tanh, tanh);
    left = t.mul_scalar(left);  // 1 - …
    Tensor right = t.mul_scalar(x);
    right = t.mul(right, x);
    right = t.add_scalar(right);
    left = t.mul(left, right);
    right.reset();
    slope = t.mul(half, left);
  }
  {
    Tensor rest = t.add_scalar(tanh);
    rest = t.mul_scalar(rest);
    slope = t.add(slope, rest);
  }
  g.out[0] = t.mul(slope, g.in[0]);
}

/// Bloom's GeLUFunction, which keeps its input alone.
Tensor bloom_gelu(Torch& t, const Tensor& x) {
  NodeRef node = t.record("GeLUFunctionBackward", {&x}, bloom_gelu_backward);
  t.save(node, 0, x);
  Restore no_grad(t.grad_enabled, false);
  const Tensor half = t.mul_scalar(x);
  Tensor above = bloom_tanh(t, x);
  above = t.add_scalar(above);
  return t.attach(node, t.mul(half, above));
}

/// derivatives.yaml: 2.0 / sqrt(M_PI) * exp(-(self.pow(2))) * grad, of which C++ lets go at the end of the statement.
void erf_backward(Torch& t, Node& n, Grads& g) {
  const Tensor x = t.unpack(n, 0);
  const Tensor square = t.pow_scalar(x);
  const Tensor negative = t.neg(square);
  const Tensor power = t.pointwise({&negative}, negative->dtype, "aten::exp");
  const Tensor multiple = t.mul_scalar(power);
  g.out[0] = t.mul(multiple, g.in[0]);
}

Tensor erf(Torch& t, const Tensor& x) {
  NodeRef node = t.record("ErfBackward0", {&x}, erf_backward);
  t.save(node, 0, x);
  return t.attach(node, t.pointwise({&x}, x->dtype, "aten::erf"));
}

/// ESM's own gelu: x * 0.5 * (1.0 + torch.erf(x / math.sqrt(2.0)))
Tensor erf_gelu(Torch& t, const Tensor& x) {
  const Tensor half = t.mul_scalar(x);
  Tensor inner = t.div_scalar(x);
  inner = erf(t, inner);
  inner = t.add_scalar(inner);
  return t.mul(half, inner);
}

/// activations.py, QuickGELUActivation: what is scaled goes before the product is made, unless it is kept.
Tensor quick_gelu(Torch& t, const Tensor& x) {
  Tensor open = t.mul_scalar(x);
  open = t.sigmoid(open);
  return t.mul(x, open);
}

struct Row {
  std::string_view name;
  Activation function;
};

constexpr Activation plain_gelu = [](Torch& t, const Tensor& x) { return t.gelu(x); };

constexpr std::array<Row, 12> activations{{
    {"silu", [](Torch& t, const Tensor& x) { return t.silu(x); }},
    {"swish", [](Torch& t, const Tensor& x) { return t.silu(x); }},
    {"gelu", plain_gelu},
    {"gelu_pytorch_tanh", plain_gelu},
    {"gelu_new", gelu_new},
    {"quick_gelu", quick_gelu},
    {"bloom_gelu", bloom_gelu},
    {"erf_gelu", erf_gelu},
    {"relu2", [](Torch& t, const Tensor& x) { return t.pow_scalar(t.relu(x)); }},
    {"relu", [](Torch& t, const Tensor& x) { return t.relu(x); }},
    {"tanh", [](Torch& t, const Tensor& x) { return t.tanh(x); }},
    {"sigmoid", [](Torch& t, const Tensor& x) { return t.sigmoid(x); }},
}};

}  // namespace

Activation find_activation(std::string_view name, Builder& builder) {
  for (const Row& row : activations) {
    if (row.name == name) return row.function;
  }
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = fmt::format("activation function \"{}\" is not modelled", name);
  builder.problems.push_back(std::move(d));
  return plain_gelu;
}

}  // namespace oomplan::estimator
