// aten/src/ATen/native/LinearAlgebra.cpp (matmul) and Linear.cpp. Autocast casts a call's arguments from the last to
// the first, as compilers evaluate them.
#include "torch/torch.hpp"
#include "torch/zero3_linear.hpp"

namespace oomplan::estimator {
namespace {

/// The gradient of a·b's left side: grad·bᵗ, written so that its layout follows a's (mm_mat1_backward).
Tensor left_gradient(Torch& t, const Tensor& grad, const Dims& a_sizes, const Dims& a_strides, const Tensor& b) {
  const bool column_major = a_strides[0] == 1 && a_strides[1] == a_sizes[0];
  return column_major ? t.t(t.mm(b, t.t(grad))) : t.mm(grad, t.t(b));
}

/// The gradient of a·b's right side: aᵗ·grad (mm_mat2_backward).
Tensor right_gradient(Torch& t, const Tensor& grad, const Dims& b_sizes, const Dims& b_strides, const Tensor& a) {
  const bool column_major = b_strides[0] == 1 && b_strides[1] == b_sizes[0];
  return column_major ? t.t(t.mm(t.t(grad), a)) : t.mm(t.t(a), grad);
}

/// What the gradients of a product need to know of its factors' layout.
void keep_layout(const NodeRef& node, const Tensor& a, const Tensor& b) {
  if (!node) return;
  node->dims = Dims{a->sizes[0], a->sizes[1], b->sizes[0], b->sizes[1]};
  node->ints = {a->strides[0], a->strides[1], b->strides[0], b->strides[1]};
}

/// The gradients of a·b where a is input `left` of the node and b input `right`; derivatives.yaml's formulas run in the
/// order of the arguments' names, so mm (mat2, self) begins with b and addmm (mat1, mat2, self) with a.
void product_backward(Torch& t, Node& n, Grads& g, int left, int right, bool left_first) {
  const Tensor a = n.needs(right) ? t.unpack(n, 0) : Tensor();
  const Tensor b = n.needs(left) ? t.unpack(n, 1) : Tensor();
  for (const bool of_left : {left_first, !left_first}) {
    if (of_left && b) {
      g.out[static_cast<std::size_t>(left)] =
          left_gradient(t, g.in[0], {n.dims[0], n.dims[1]}, {n.ints[0], n.ints[1]}, b);
    }
    if (!of_left && a) {
      g.out[static_cast<std::size_t>(right)] =
          right_gradient(t, g.in[0], {n.dims[2], n.dims[3]}, {n.ints[2], n.ints[3]}, a);
    }
  }
}

}  // namespace

Tensor Torch::product(const Dims& sizes, DType dtype) {
  const auto make = [&] { return empty(sizes, dtype, "aten::mm"); };
  CheckpointFrame* frame = selecting();
  return frame != nullptr && ++frame->products % 2 == 1 ? through_checkpoint(*frame, make) : make();
}

Tensor Torch::mm(const Tensor& x, const Tensor& y) {
  const Tensor b = lowered(y);
  const Tensor a = lowered(x);
  NodeRef node =
      record("MmBackward0", {&a, &b}, [](Torch& t, Node& n, Grads& g) { product_backward(t, n, g, 0, 1, false); });
  keep_layout(node, a, b);
  if (node && node->needs(0)) save(node, 1, b);
  if (node && node->needs(1)) save(node, 0, a);
  return attach(node, product({a->sizes[0], b->sizes[1]}, a->dtype));
}

Tensor Torch::addmm(const Tensor& c, const Tensor& x, const Tensor& y) {
  const Tensor b = lowered(y);
  const Tensor a = lowered(x);
  const Tensor bias = lowered(c);
  NodeRef node = record("AddmmBackward0", {&bias, &a, &b}, [](Torch& t, Node& n, Grads& g) {
    product_backward(t, n, g, 1, 2, true);
    if (n.needs(0)) g.out[0] = g.in[0];
  });
  keep_layout(node, a, b);
  if (node && node->needs(2)) save(node, 0, a);
  if (node && node->needs(1)) save(node, 1, b);
  return attach(node, empty({a->sizes[0], b->sizes[1]}, a->dtype, "aten::addmm"));
}

Tensor Torch::bmm(const Tensor& x, const Tensor& y) {
  const Tensor b = lowered(y);
  const Tensor a = lowered(x);
  NodeRef node = record("BmmBackward0", {&a, &b}, [](Torch& t, Node& n, Grads& g) {
    const Tensor left = n.needs(1) ? t.unpack(n, 0) : Tensor();
    const Tensor right = n.needs(0) ? t.unpack(n, 1) : Tensor();
    if (n.needs(1)) g.out[1] = t.bmm(t.transpose(left, 1, 2), g.in[0]);
    if (n.needs(0)) g.out[0] = t.bmm(g.in[0], t.transpose(right, 1, 2));
  });
  if (node && node->needs(0)) save(node, 1, b);
  if (node && node->needs(1)) save(node, 0, a);
  return attach(node, empty({a->sizes[0], a->sizes[1], b->sizes[2]}, a->dtype, "aten::bmm"));
}

// derivatives.yaml takes the product and its multiple apart (maybe_multiply).
Tensor Torch::baddbmm(const Tensor& z, const Tensor& x, const Tensor& y) {
  const Tensor b = lowered(y);
  const Tensor a = lowered(x);
  const Tensor c = lowered(z);
  NodeRef node = record("BaddbmmBackward0", {&a, &b}, [](Torch& t, Node& n, Grads& g) {
    const Tensor left = n.needs(1) ? t.unpack(n, 0) : Tensor();
    const Tensor right = n.needs(0) ? t.unpack(n, 1) : Tensor();
    if (n.needs(0)) g.out[0] = t.mul_scalar(t.bmm(g.in[0], t.transpose(right, 1, 2)));
    if (n.needs(1)) g.out[1] = t.mul_scalar(t.bmm(t.transpose(left, 1, 2), g.in[0]));
  });
  if (node && node->needs(1)) save(node, 0, a);
  if (node && node->needs(0)) save(node, 1, b);
  return attach(node, empty({a->sizes[0], a->sizes[1], b->sizes[2]}, a->dtype, "aten::baddbmm"));
}

namespace {

/// should_fold: is an n-d by 2-d product one big 2-d product?
bool folds(const Tensor& a, const Tensor& b) {
  if (a->dim() < 3 || b->dim() != 2) return false;
  if (b->requires_grad) return true;
  for (int i = 0; i + 2 < a->dim(); ++i) {
    if (a->sizes[i] != 1 && a->strides[i] != saturating_mul(a->strides[i + 1], a->sizes[i + 1])) return false;
  }
  return true;
}

}  // namespace

Tensor Torch::matmul(const Tensor& x, const Tensor& y) {
  const Tensor b = lowered(y);
  const Tensor a = lowered(x);
  Restore lowered_already(autocast_, std::optional<DType>{});
  if (a->dim() == 2 && b->dim() == 2) return mm(a, b);
  Dims out = a->sizes;
  out[out.size() - 1] = b->sizes.back();
  if (folds(a, b)) return unsafe_view(mm(reshape(a, {-1, a->sizes.back()}), b), out);
  Dims batch = a->sizes;
  batch.erase(batch.size() - 1);
  batch.erase(batch.size() - 1);
  const std::int64_t count = batch.product();
  Dims b_sizes = batch;
  b_sizes.push(b->sizes.back(1));
  b_sizes.push(b->sizes.back());
  const Tensor a3 = reshape(expand(a, a->sizes), {count, a->sizes.back(1), a->sizes.back()});
  const Tensor b3 = reshape(expand(b, b_sizes), {count, b->sizes.back(1), b->sizes.back()});
  return unsafe_view(bmm(a3, b3), out);
}

Tensor Torch::linear(const Tensor& x, const Tensor& w, const Tensor& c) {
  if (zero3_linear) return zero3_linear_wrap(*this, x, w, c);
  const Tensor bias = lowered(c);
  const Tensor weight = lowered(w);
  const Tensor input = lowered(x);
  Restore lowered_already(autocast_, std::optional<DType>{});
  if (bias && input->dim() == 2) return addmm(bias, input, t(weight));
  if (bias && estimator::contiguous(*input)) {
    Dims out = input->sizes;
    out[out.size() - 1] = weight->sizes[0];
    const Tensor flat = reshape(input, {-1, input->sizes.back()});
    return view(addmm(bias, flat, t(weight)), out);
  }
  Tensor out = matmul(input, t(weight));
  return bias ? add_(out, bias) : out;
}

}  // namespace oomplan::estimator
