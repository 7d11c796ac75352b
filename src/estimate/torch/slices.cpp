#include "torch/slices.hpp"

#include <cassert>

namespace oomplan::estimator {

// The gradient is copied, and of the part that the view is once more; AddBackward hands that one to both sides.
Tensor add_to_view(Torch& t, const Tensor& whole, const Tensor& view, const Tensor& x) {
  assert(view->dim() == 4 && contiguous(*whole));
  NodeRef node = t.record("CopySlices", {&whole, &x}, [](Torch& torch, Node& n, Grads& g) {
    const DType dtype = g.in[0]->dtype;
    const Tensor result = torch.empty(n.outputs[0].sizes, dtype, "aten::new_empty_strided");
    const Dims strides{n.ints[0], n.ints[1], n.ints[2], n.ints[3]};
    const Tensor part = torch.empty_strided(n.dims, strides, dtype, "aten::clone");
    if (n.needs(0)) g.out[0] = result;
    if (n.needs(1)) g.out[1] = part;
  });
  if (node) {
    node->dims = view->sizes;
    for (int i = 0; i < view->dim(); ++i) node->ints[static_cast<std::size_t>(i)] = view->strides[i];
  }
  return t.attach(node, whole);
}

Tensor view_again(Torch& t, const Tensor& whole, const Tensor& view) {
  NodeRef node = t.record("AsStridedBackward0", {&whole},
                          [](Torch& torch, Node& n, Grads& g) { g.out[0] = torch.zeros(n.dims, g.in[0]->dtype); });
  if (node) node->dims = whole->sizes;
  return t.attach(node, t.view_as(whole, view->sizes, view->strides));
}

}  // namespace oomplan::estimator
