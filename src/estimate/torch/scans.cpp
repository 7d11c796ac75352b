#include "torch/scans.hpp"

namespace oomplan::estimator {

// cumsum_backward: grad.flip(dim).cumsum(dim).flip(dim)
Tensor cumsum(Torch& t, const Tensor& x, int dim) {
  NodeRef node = t.record("CumsumBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor& grad = g.in[0];
    g.out[0] = grad;
    if (grad->numel() <= 1 || grad->sizes[static_cast<int>(n.ints[0])] == 1) return;
    const Tensor flipped = torch.pointwise({&grad}, grad->dtype, "aten::flip");
    const Tensor summed = torch.empty(grad->sizes, grad->dtype, "aten::cumsum");
    g.out[0] = torch.empty(grad->sizes, grad->dtype, "aten::flip");
  });
  if (node) node->ints[0] = dim;
  return t.attach(node, t.empty(x->sizes, x->dtype, "aten::cumsum"));
}

// constant_pad_nd_backward pads by as much less, which is a copy of what is left.
Tensor pad(Torch& t, const Tensor& x, int dim, std::int64_t before, std::int64_t after) {
  NodeRef node = t.record("ConstantPadNdBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.clone(torch.view_as(g.in[0], n.dims, g.in[0]->strides));
  });
  if (node) node->dims = x->sizes;
  if (before == 0 && after == 0) {
    Restore no_grad(t.grad_enabled, false);
    return t.attach(node, t.clone(x));
  }
  Dims sizes = x->sizes;
  sizes[dim] += before + after;
  return t.attach(node, t.empty(sizes, x->dtype, "aten::constant_pad_nd"));
}

Tensor repeat_interleave(Torch& t, const Tensor& x, std::int64_t times, int dim) {
  Tensor wide = t.unsqueeze(x, dim + 1);
  Dims sizes = wide->sizes;
  sizes[dim + 1] = times;
  wide = t.expand(wide, sizes);
  NodeRef node = t.record("CloneBackward0", {&wide}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
  const Tensor copy = t.attach(node, t.empty(sizes, x->dtype, "aten::clone"));
  Dims flat = x->sizes;
  flat[dim] = saturating_mul(flat[dim], times);
  return t.view(copy, flat);
}

Tensor triangle(Torch& t, std::int64_t size) {
  const Tensor ones = t.empty({size, size}, DType::boolean, "aten::ones");
  return t.empty({size, size}, DType::boolean, "aten::tril");
}

}  // namespace oomplan::estimator
