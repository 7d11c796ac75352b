// aten/src/ATen/native/TensorConversions.cpp, TensorFactories.cpp, TensorShape.cpp (cat).
#include <algorithm>
#include <array>
#include <cassert>

#include "torch/torch.hpp"

namespace oomplan::estimator {
namespace {

/// A new tensor of x's shape that keeps the order of its dimensions in memory (MemoryFormat::Preserve).
Tensor like(Torch& t, const Tensor& x, DType dtype, const char* op) {
  if (dense(*x)) return t.empty_strided(x->sizes, x->strides, dtype, op);
  return t.pointwise({&x}, dtype, op);
}

}  // namespace

Tensor Torch::to(const Tensor& x, DType dtype) {
  if (x->dtype == dtype) return x;
  NodeRef node = record("ToCopyBackward0", {&x},
                        [](Torch& t, Node& n, Grads& g) { g.out[0] = t.to(g.in[0], static_cast<DType>(n.ints[0])); });
  if (node) node->ints[0] = static_cast<std::int64_t>(x->dtype);
  return attach(node, like(*this, x, dtype, "aten::_to_copy"));
}

Tensor Torch::clone(const Tensor& x) {
  NodeRef node = record("CloneBackward0", {&x}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
  return attach(node, like(*this, x, x->dtype, "aten::clone"));
}

Tensor Torch::contiguous(const Tensor& x) {
  if (estimator::contiguous(*x)) return x;
  NodeRef node = record("CloneBackward0", {&x}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
  return attach(node, empty(x->sizes, x->dtype, "aten::clone"));
}

// The result has the widest dtype that a part has. Autocast gives it all parts in that (autocast_mode.h: promote); else
// the kernel takes them as they are, and the engine casts the gradients.
Tensor Torch::cat(std::initializer_list<Tensor> parts, int dim) {
  std::array<Tensor, 3> in{};
  assert(parts.size() <= in.size());
  const bool in_fp32 = std::ranges::any_of(parts, [](const Tensor& x) { return x->dtype == DType::fp32; });
  int count = 0;
  for (const Tensor& p : parts) {
    in[static_cast<std::size_t>(count++)] = in_fp32 && autocast() && is_floating(p->dtype) ? to(p, DType::fp32) : p;
  }
  NodeRef node = record("CatBackward0", {&in[0], &in[1], &in[2]}, [](Torch& t, Node& n, Grads& g) {
    // cat_tensors_backward: a narrowed view of the gradient for each part.
    const int d = static_cast<int>(n.ints[3]);
    for (int i = 0; i < 3; ++i) {
      if (!n.needs(i)) continue;
      Dims sizes = g.in[0]->sizes;
      sizes[d] = n.ints[static_cast<std::size_t>(i)];
      const Tensor part = t.view_as(g.in[0], sizes, g.in[0]->strides);
      g.out[static_cast<std::size_t>(i)] = t.to(part, static_cast<DType>(n.dims[i]));
    }
  });
  Dims sizes = in[0]->sizes;
  sizes[dim] = 0;
  for (int i = 0; i < count; ++i) {
    const Tensor& part = in[static_cast<std::size_t>(i)];
    if (node) node->ints[static_cast<std::size_t>(i)] = part->sizes[dim];
    if (node) node->dims.push(static_cast<std::int64_t>(part->dtype));
    sizes[dim] += part->sizes[dim];
  }
  if (node) node->ints[3] = dim;
  return attach(node, empty(sizes, in_fp32 ? DType::fp32 : in[0]->dtype, "aten::cat"));
}

Tensor Torch::stack_last(const Tensor& a, const Tensor& b) {
  NodeRef node = record("StackBackward0", {&a, &b}, [](Torch& t, Node& n, Grads& g) {
    // stack_tensors_backward: a selected view of the gradient for each part.
    const int last = g.in[0]->dim() - 1;
    for (int i = 0; i < 2; ++i) {
      if (n.needs(i)) g.out[static_cast<std::size_t>(i)] = t.select(g.in[0], last);
    }
  });
  Dims sizes = a->sizes;
  sizes.push(2);
  return attach(node, empty(sizes, a->dtype, "aten::cat"));
}

Tensor Torch::pad_last(const Tensor& x, std::int64_t by) {
  NodeRef node = record("ConstantPadNdBackward0", {&x}, [](Torch& t, Node& n, Grads& g) {
    // constant_pad_nd_backward: a pad by a negative amount, which clones.
    g.out[0] = t.empty(n.dims, g.in[0]->dtype, "aten::clone");
  });
  if (node) node->dims = x->sizes;
  Dims sizes = x->sizes;
  sizes[sizes.size() - 1] += by;
  return attach(node, empty(sizes, x->dtype, "aten::constant_pad_nd"));
}

}  // namespace oomplan::estimator
