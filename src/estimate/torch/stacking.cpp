#include "torch/stacking.hpp"

#include <algorithm>

namespace oomplan::estimator {
namespace {

/// stack_tensors_backward: a selected view of the gradient for each part.
template <bool first>
void stack_backward(Torch& t, Node& n, Grads& g) {
  if (n.needs(1)) g.out[1] = t.select(g.in[0], first ? 0 : g.in[0]->dim() - 1);
  if (n.needs(0)) g.out[0] = g.in[0];
}

/// Autocast gives torch.stack all its parts in the widest dtype that one of them has (autocast_mode.h: promote).
std::vector<Tensor> widened(Torch& t, const std::vector<Tensor>& parts) {
  const bool in_fp32 = std::ranges::any_of(parts, [](const Tensor& x) { return x->dtype == DType::fp32; });
  std::vector<Tensor> out;
  out.reserve(parts.size());
  for (const Tensor& part : parts) out.push_back(in_fp32 ? t.to(part, DType::fp32) : part);
  return out;
}

Tensor stack(Torch& t, const std::vector<Tensor>& parts, int dim, BackwardFn backward) {
  Dims sizes = parts.front()->sizes;
  sizes.insert(dim, static_cast<std::int64_t>(parts.size()));
  const std::vector<Tensor> alike = widened(t, parts);
  Tensor whole = t.empty(sizes, alike.front()->dtype, "aten::cat");
  for (const Tensor& part : alike) {
    NodeRef node = t.record("StackBackward0", {&whole, &part}, backward);
    if (node) whole = t.attach(node, t.alias(whole, sizes, contiguous_strides(sizes)));
  }
  return whole;
}

}  // namespace

Tensor stack_last(Torch& t, const std::vector<Tensor>& parts) {
  return stack(t, parts, parts.front()->dim(), stack_backward<false>);
}

Tensor stack_first(Torch& t, const std::vector<Tensor>& parts) { return stack(t, parts, 0, stack_backward<true>); }

Tensor cat_all(Torch& t, const std::vector<Tensor>& parts, int dim) {
  Dims sizes = parts.front()->sizes;
  sizes[dim] = 0;
  for (const Tensor& part : parts) sizes[dim] += part->sizes[dim];
  Tensor whole = t.empty(sizes, parts.front()->dtype, "aten::cat");
  for (const Tensor& part : parts) {
    NodeRef node = t.record("CatBackward0", {&whole, &part}, [](Torch& torch, Node& n, Grads& g) {
      if (n.needs(1)) g.out[1] = torch.view_as(g.in[0], n.dims, g.in[0]->strides);
      if (n.needs(0)) g.out[0] = g.in[0];
    });
    if (!node) continue;
    node->dims = part->sizes;
    whole = t.attach(node, t.alias(whole, sizes, contiguous_strides(sizes)));
  }
  return whole;
}

}  // namespace oomplan::estimator
