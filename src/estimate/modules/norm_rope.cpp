#include "modules/norm_rope.hpp"

#include <algorithm>

#include "modules/liger.hpp"

namespace oomplan::estimator {
namespace {

constexpr std::int64_t programs_a_multiprocessor = 8;

void norm_rope_backward(Torch& t, Node& n, Grads& g) {
  const Tensor grad = t.contiguous(g.in[0]);
  const Tensor x = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const Tensor cos = t.unpack(n, 2);
  const Tensor sin = t.unpack(n, 3);
  const Tensor rstd = t.unpack(n, 4);
  const std::int64_t rows = x->sizes[0];
  const std::int64_t most = std::min(programs_a_multiprocessor * liger::multiprocessors, rows);
  const std::int64_t programs = divided_up(rows, divided_up(rows, most));
  Tensor out = t.empty(x->sizes, x->dtype, "aten::empty_like");
  const Tensor partial = t.empty({programs, x->sizes[1]}, DType::fp32, "aten::empty");
  Tensor of_weight = t.to(t.empty(weight->sizes, DType::fp32, "aten::sum"), weight->dtype);
  if (n.needs(0)) g.out[0] = std::move(out);
  if (n.needs(1)) g.out[1] = std::move(of_weight);
}

void norm_backward(Torch& t, Node& n, Grads& g) {
  const Tensor grad = t.contiguous(g.in[0]);
  const Tensor x = t.unpack(n, 0);
  const Tensor rstd = t.unpack(n, 1);
  g.out[0] = t.empty(x->sizes, x->dtype, "aten::empty_like");
}

/// A row for each token, of which the batch may share one.
Tensor by_token(Torch& t, const Tensor& angles, const Tensor& x) {
  return t.reshape(t.expand(angles, {x->sizes[0], x->sizes[1], angles->sizes.back()}), {-1, angles->sizes.back()});
}

}  // namespace

Tensor fused_norm_rope(Torch& t, const Tensor& x, const Tensor& weight, const Tensor& cos, const Tensor& sin) {
  const Tensor flat = t.contiguous(t.reshape(x, {-1, x->sizes.back()}));
  const Tensor cos_rows = by_token(t, cos, x);
  const Tensor sin_rows = by_token(t, sin, x);
  NodeRef node = t.record("GeneratedBackwardFor_axolotl_fused_rms_norm_rope_fwd", {&flat, &weight}, norm_rope_backward);
  Tensor out;
  {
    Restore no_grad(t.grad_enabled, false);
    out = t.empty(flat->sizes, flat->dtype, "aten::empty_like");
    const Tensor rstd = t.empty({flat->sizes[0]}, DType::fp32, "aten::empty");
    t.save(node, 0, flat);
    t.save(node, 1, weight);
    t.save(node, 2, cos_rows);
    t.save(node, 3, sin_rows);
    t.save(node, 4, rstd);
  }
  return t.view(t.attach(node, std::move(out)), x->sizes);
}

Tensor fused_norm(Torch& t, const Tensor& x) {
  const Tensor flat = t.contiguous(t.reshape(x, {-1, x->sizes.back()}));
  NodeRef node = t.record("GeneratedBackwardFor_axolotl_fused_rms_norm_noscale_fwd", {&flat}, norm_backward);
  Tensor out;
  {
    Restore no_grad(t.grad_enabled, false);
    out = t.empty(flat->sizes, flat->dtype, "aten::empty_like");
    const Tensor rstd = t.empty({flat->sizes[0]}, DType::fp32, "aten::empty");
    t.save(node, 0, flat);
    t.save(node, 1, rstd);
  }
  return t.view(t.attach(node, std::move(out)), x->sizes);
}

}  // namespace oomplan::estimator
