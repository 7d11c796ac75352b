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

struct Row {
  std::string_view name;
  Activation function;
};

constexpr Activation plain_gelu = [](Torch& t, const Tensor& x) { return t.gelu(x); };

constexpr std::array<Row, 9> activations{{
    {"silu", [](Torch& t, const Tensor& x) { return t.silu(x); }},
    {"swish", [](Torch& t, const Tensor& x) { return t.silu(x); }},
    {"gelu", plain_gelu},
    {"gelu_pytorch_tanh", plain_gelu},
    {"gelu_new", gelu_new},
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
