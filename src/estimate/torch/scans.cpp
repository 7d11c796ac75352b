#include "torch/scans.hpp"

#include <array>

#include "torch/memory_format.hpp"

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

// aten/src/ATen/native/PadNd.cpp: constant_pad_nd makes its output in the memory format that the input suggests.
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
  constexpr const char* op = "aten::constant_pad_nd";
  if (!is_channels_last(*x)) return t.attach(node, t.empty(sizes, x->dtype, op));
  return t.attach(node, t.empty_strided(sizes, channels_last_strides(sizes), x->dtype, op));
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

// grad / (2 * result)
Tensor sqrt(Torch& t, const Tensor& x) {
  NodeRef node = t.record("SqrtBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor result = torch.unpack(n, 0);
    const Tensor twice = torch.mul_scalar(result);
    g.out[0] = torch.pointwise({&g.in[0], &twice}, g.in[0]->dtype, "aten::div");
  });
  Tensor out = t.pointwise({&x}, x->dtype, "aten::sqrt");
  t.save_output(node, 0, out);
  return t.attach(node, std::move(out));
}

Tensor log(Torch& t, const Tensor& x) {
  NodeRef node = t.record("LogBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor self = torch.unpack(n, 0);
    g.out[0] = torch.pointwise({&g.in[0], &self}, g.in[0]->dtype, "aten::div");
  });
  t.save(node, 0, x);
  return t.attach(node, t.pointwise({&x}, x->dtype, "aten::log"));
}

Tensor rest_of(Torch& t, const Tensor& x) {
  NodeRef node = t.record("RsubBackward1", {&x}, [](Torch& torch, Node&, Grads& g) { g.out[0] = torch.neg(g.in[0]); });
  return t.attach(node, t.pointwise({&x}, x->dtype, "aten::rsub"));
}

Tensor set_part(Torch& t, const Tensor& whole, const Tensor& part) {
  NodeRef node = t.record("CopySlices", {&whole, &part}, [](Torch& torch, Node& n, Grads& g) {
    const DType dtype = g.in[0]->dtype;
    const Tensor result = torch.empty(g.in[0]->sizes, dtype, "aten::new_empty_strided");
    g.out[1] = torch.empty(n.dims, dtype, "aten::clone");
    if (!n.needs(0)) return;
    torch.empty(n.dims, dtype, "aten::zeros_like");
    g.out[0] = result;
  });
  if (node) node->dims = part->sizes;
  return t.attach(node, whole);
}

Tensor to_contiguous(Torch& t, const Tensor& x, DType dtype) {
  if (x->dtype == dtype) return x;
  NodeRef node = t.record("ToCopyBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    g.out[0] = torch.to(g.in[0], static_cast<DType>(n.ints[0]));
  });
  if (node) node->ints[0] = static_cast<std::int64_t>(x->dtype);
  return t.attach(node, t.empty(x->sizes, dtype, "aten::_to_copy"));
}

namespace {

Tensor by_columns(Torch& t, const Dims& sizes, DType dtype) {
  Dims turned = sizes;
  const int last = sizes.size() - 1;
  turned.swap(last - 1, last);
  Dims strides = contiguous_strides(turned);
  strides.swap(last - 1, last);
  return t.empty_strided(sizes, strides, dtype, "aten::linalg_solve_triangular");
}

// linalg_solve_triangular_backward: G_B = solve(Aᵗ, G), G_A = (-G_B·Xᵗ).tril(-1).
void solve_backward(Torch& t, Node& n, Grads& g) {
  const Tensor a = t.unpack(n, 0);
  const Tensor x = t.unpack(n, 1);
  const Tensor of_b = by_columns(t, g.in[0]->sizes, g.in[0]->dtype);
  const int last = a->dim() - 1;
  if (n.needs(0)) {
    Tensor of_a = t.matmul(of_b, t.transpose(x, last - 1, last));
    of_a = t.neg(of_a);
    g.out[0] = t.empty(a->sizes, a->dtype, "aten::tril");
  }
  if (n.needs(1)) g.out[1] = of_b;
}

}  // namespace

Tensor solve_triangular(Torch& t, const Tensor& a, const Tensor& b) {
  NodeRef node = t.record("LinalgSolveTriangularBackward0", {&a, &b}, solve_backward);
  t.save(node, 0, a);
  Tensor out = by_columns(t, b->sizes, b->dtype);
  t.save_output(node, 1, out);
  return t.attach(node, std::move(out));
}

Tensor tril(Torch& t, const Tensor& x) {
  NodeRef node = t.record("TrilBackward0", {&x}, [](Torch& torch, Node&, Grads& g) {
    g.out[0] = torch.empty(g.in[0]->sizes, g.in[0]->dtype, "aten::tril");
  });
  return t.attach(node, t.empty(x->sizes, x->dtype, "aten::tril"));
}

Tensor triangle(Torch& t, std::int64_t size) {
  const Tensor ones = t.empty({size, size}, DType::boolean, "aten::ones");
  return t.empty({size, size}, DType::boolean, "aten::tril");
}

}  // namespace oomplan::estimator
