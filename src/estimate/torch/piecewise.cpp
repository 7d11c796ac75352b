// Functions that differ by element (derivatives.yaml): where, minimum, masked_fill, and what activations make of them.
#include "torch/torch.hpp"

namespace oomplan::estimator {

Tensor Torch::expm1(const Tensor& input) {
  const Tensor x = raised(input);
  NodeRef node = record("Expm1Backward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor result = t.unpack(n, 0);
    const Tensor above = t.add_scalar(result);
    g.out[0] = t.mul(g.in[0], above);
  });
  Tensor out = pointwise({&x}, x->dtype, "aten::expm1");
  save_output(node, 0, out);
  return attach(node, std::move(out));
}

Tensor Torch::softplus(const Tensor& input) {
  const Tensor x = raised(input);
  NodeRef node = record("SoftplusBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor self = t.unpack(n, 0);
    g.out[0] = t.pointwise({&g.in[0], &self}, g.in[0]->dtype, "aten::softplus_backward");
  });
  save(node, 0, x);
  return attach(node, pointwise({&x}, x->dtype, "aten::softplus"));
}

namespace {

/// Of the side that asks: at::where(self == other, grad / 2, grad).masked_fill_(self > other, 0), of a maximum where it
/// is less.
Tensor nearer(Torch& torch, const char* name, const char* op, const Tensor& x, const Tensor& y) {
  NodeRef node = torch.record(name, {&x, &y}, [](Torch& t, Node& n, Grads& g) {
    const Tensor self = t.unpack(n, 0);
    const Tensor other = t.unpack(n, 1);
    for (const int side : {1, 0}) {
      if (!n.needs(side)) continue;
      const Tensor equal = t.pointwise({&self, &other}, DType::boolean, "aten::eq");
      const Tensor half = t.div_scalar(g.in[0]);
      Tensor chosen = t.pointwise({&equal, &half, &g.in[0]}, g.in[0]->dtype, "aten::where");
      const Tensor beyond = t.pointwise({&self, &other}, DType::boolean, "aten::gt");
      g.out[static_cast<std::size_t>(side)] = std::move(chosen);
    }
  });
  torch.save(node, 1, y);
  torch.save(node, 0, x);
  return torch.attach(node, torch.pointwise({&x, &y}, x->dtype, op));
}

}  // namespace

Tensor Torch::minimum(const Tensor& x, const Tensor& y) {
  return nearer(*this, "MinimumBackward0", "aten::minimum", x, y);
}

Tensor Torch::maximum(const Tensor& x, const Tensor& y) {
  return nearer(*this, "MaximumBackward0", "aten::maximum", x, y);
}

Tensor Torch::where(const Tensor& condition, const Tensor& a, const Tensor& b) {
  NodeRef node = record("WhereBackward0", {&a, &b}, [](Torch& t, Node& n, Grads& g) {
    const Tensor chosen = t.unpack(n, 0);
    for (const int side : {1, 0}) {
      if (!n.needs(side)) continue;
      g.out[static_cast<std::size_t>(side)] = t.pointwise({&chosen, &g.in[0]}, g.in[0]->dtype, "aten::where");
    }
  });
  save(node, 0, condition);
  const DType dtype = bytes_of(a->dtype) < bytes_of(b->dtype) ? b->dtype : a->dtype;
  return attach(node, pointwise({&condition, &a, &b}, dtype, "aten::where"));
}

Tensor Torch::masked_fill(const Tensor& x, const Tensor& mask) {
  NodeRef node = record("MaskedFillBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    const Tensor filled = t.unpack(n, 0);
    g.out[0] = t.pointwise({&g.in[0]}, g.in[0]->dtype, "aten::masked_fill");
  });
  save(node, 0, mask);
  return attach(node, pointwise({&x}, x->dtype, "aten::masked_fill"));
}

Tensor Torch::div_scalar_(const Tensor& x) {
  NodeRef node = record("DivBackward0", {&x}, [](Torch& t, Node&, Grads& g) { g.out[0] = t.div_scalar(g.in[0]); });
  return attach(node, x);
}

}  // namespace oomplan::estimator
