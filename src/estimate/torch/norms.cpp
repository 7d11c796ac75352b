// aten/src/ATen/native: LinearAlgebra.cpp (linalg_vector_norm), Distance.cpp (cosine_similarity);
// torch/csrc/autograd/FunctionsManual.cpp: linalg_vector_norm_backward. torch/nn/functional.py: normalize.
#include "torch/norms.hpp"

namespace oomplan::estimator {

// Autocast's fp32 list has norm.
Tensor norm_last(Torch& t, const Tensor& input, bool keep) {
  const Tensor x = t.raised(input);
  NodeRef node = t.record("LinalgVectorNormBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor self = torch.unpack(n, 0);
    const Tensor norm = torch.unpack(n, 1);
    const Tensor direction = torch.pointwise({&self}, self->dtype, "aten::div");
    g.out[0] = torch.pointwise({&direction}, self->dtype, "aten::mul");
  });
  t.save(node, 0, x);
  Dims sizes = x->sizes;
  keep ? void(sizes[x->dim() - 1] = 1) : sizes.erase(x->dim() - 1);
  Tensor out = t.empty(sizes, x->dtype, "aten::linalg_vector_norm");
  t.save_output(node, 1, out);
  return t.attach(node, std::move(out));
}

Tensor normalized_last(Torch& t, const Tensor& x) {
  const Tensor length = t.expand(t.clamp(norm_last(t, x, true)), x->sizes);
  return t.div(x, length);
}

Tensor cosine_similarity(Torch& t, const Tensor& a, const Tensor& b) {
  const Tensor of_a = t.clone(norm_last(t, a, true));
  const Tensor of_b = t.clone(norm_last(t, b, true));
  return t.sum_last(t.mul(t.div(a, of_a), t.div(b, of_b)));
}

}  // namespace oomplan::estimator
