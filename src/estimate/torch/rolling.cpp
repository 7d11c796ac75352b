#include "torch/rolling.hpp"

namespace oomplan::estimator {
namespace {

Tensor rolled(Torch& t, const Dims& sizes, DType dtype) {
  const Tensor first = t.empty(sizes, dtype, "aten::roll");
  return t.empty(sizes, dtype, "aten::roll");
}

}  // namespace

Tensor roll_twice(Torch& t, const Tensor& x) {
  NodeRef node = t.record("RollBackward0", {&x}, [](Torch& torch, Node&, Grads& g) {
    g.out[0] = rolled(torch, g.in[0]->sizes, g.in[0]->dtype);
  });
  return t.attach(node, rolled(t, x->sizes, x->dtype));
}

// constant_pad_nd_backward: a pad by negative amounts, which clones.
Tensor pad_to(Torch& t, const Tensor& x, const Dims& sizes) {
  NodeRef node = t.record("ConstantPadNdBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::clone");
  });
  if (node) node->dims = x->sizes;
  return t.attach(node, t.empty(sizes, x->dtype, "aten::constant_pad_nd"));
}

Tensor every_second(Torch& t, const Tensor& x, int dim, std::int64_t from) {
  NodeRef node = t.record("SliceBackward0", {&x},
                          [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
  if (node) node->dims = x->sizes;
  Dims sizes = x->sizes;
  Dims strides = x->strides;
  sizes[dim] = (sizes[dim] - from + 1) / 2;
  strides[dim] = saturating_mul(strides[dim], 2);
  Tensor out = t.attach(node, t.view_as(x, sizes, strides));
  out->offset = saturating_add(x->offset, saturating_mul(from, x->strides[dim]));
  return out;
}

}  // namespace oomplan::estimator
