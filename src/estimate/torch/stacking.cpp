#include "torch/stacking.hpp"

namespace oomplan::estimator {
namespace {

/// stack_tensors_backward: a selected view of the gradient for each part.
void stack_backward(Torch& t, Node& n, Grads& g) {
  if (n.needs(1)) g.out[1] = t.select(g.in[0], g.in[0]->dim() - 1);
  if (n.needs(0)) g.out[0] = g.in[0];
}

}  // namespace

Tensor stack_last(Torch& t, const std::vector<Tensor>& parts) {
  Dims sizes = parts.front()->sizes;
  sizes.push(static_cast<std::int64_t>(parts.size()));
  Tensor whole = t.empty(sizes, parts.front()->dtype, "aten::cat");
  for (const Tensor& part : parts) {
    NodeRef node = t.record("StackBackward0", {&whole, &part}, stack_backward);
    if (node) whole = t.attach(node, t.alias(whole, sizes, contiguous_strides(sizes)));
  }
  return whole;
}

}  // namespace oomplan::estimator
