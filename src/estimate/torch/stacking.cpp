#include "torch/stacking.hpp"

#include <algorithm>

#include "torch/memory_format.hpp"

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

Tensor stack(Torch& t, const std::vector<Tensor>& parts, std::int64_t count, int dim, BackwardFn backward) {
  Dims sizes = parts.front()->sizes;
  sizes.insert(dim, count);
  const std::vector<Tensor> alike = widened(t, parts);
  Tensor whole = t.empty(sizes, alike.front()->dtype, "aten::cat");
  for (const Tensor& part : alike) {
    NodeRef node = t.record("StackBackward0", {&whole, &part}, backward);
    if (node) whole = t.attach(node, t.alias(whole, sizes, contiguous_strides(sizes)));
  }
  return whole;
}

/// cat_tensors_backward: a narrowed view of the gradient for each part.
void cat_backward(Torch& t, Node& n, Grads& g) {
  if (n.needs(1)) {
    Dims sizes = g.in[0]->sizes;
    sizes[static_cast<int>(n.ints[1])] = n.ints[0];
    g.out[1] = t.view_as(g.in[0], sizes, g.in[0]->strides);
  }
  if (n.needs(0)) g.out[0] = g.in[0];
}

}  // namespace

Tensor cat_all(Torch& t, const std::vector<Tensor>& parts, int dim) {
  Dims sizes = parts.front()->sizes;
  sizes[dim] = 0;
  for (const Tensor& part : parts) sizes[dim] = saturating_add(sizes[dim], part->sizes[dim]);
  const bool last = std::ranges::all_of(parts, [](const Tensor& x) { return is_channels_last(*x); });
  const Dims strides = last ? channels_last_strides(sizes) : contiguous_strides(sizes);
  Tensor whole = t.empty_strided(sizes, strides, parts.front()->dtype, "aten::cat");
  for (const Tensor& part : parts) {
    NodeRef node = t.record("CatBackward0", {&whole, &part}, cat_backward);
    if (!node) continue;
    node->ints[0] = part->sizes[dim];
    node->ints[1] = dim;
    whole = t.attach(node, t.alias(whole, sizes, strides));
  }
  return whole;
}

std::vector<Tensor> split_all(Torch& t, const Tensor& x, std::int64_t size) {
  constexpr std::int64_t most = 8;
  const std::int64_t parts = x->sizes[0] / size;
  if (parts <= most) return t.split(x, size, 0);
  std::int64_t group = size * most;
  while (x->sizes[0] > group * most) group *= most;
  std::vector<Tensor> out;
  for (const Tensor& some : t.split(x, group, 0)) {
    const std::vector<Tensor> each = split_all(t, some, size);
    out.insert(out.end(), each.begin(), each.end());
  }
  return out;
}

Tensor stack_last(Torch& t, const std::vector<Tensor>& parts, std::int64_t count) {
  return stack(t, parts, count, parts.front()->dim(), stack_backward<false>);
}

Tensor stack_first(Torch& t, const std::vector<Tensor>& parts) {
  return stack(t, parts, std::ssize(parts), 0, stack_backward<true>);
}

}  // namespace oomplan::estimator
