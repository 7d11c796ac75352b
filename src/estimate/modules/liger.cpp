#include "modules/liger.hpp"

namespace oomplan::estimator::liger {
namespace {

void rms_norm_backward(Torch& t, Node& n, Grads& g) {
  const Tensor grad = t.contiguous(g.in[0]);
  const Tensor x = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const Tensor rstd = t.unpack(n, 2);
  const Tensor partial =
      n.needs(1) ? t.empty({multiprocessors, weight->sizes[0]}, DType::fp32, "aten::empty") : Tensor();
  const bool in_place = n.ints[0] != 0;
  if (n.needs(0)) g.out[0] = in_place ? t.view(grad, grad->sizes) : t.zeros(grad->sizes, grad->dtype);
  if (partial) g.out[1] = t.to(t.empty(weight->sizes, DType::fp32, "aten::sum"), weight->dtype);
}

/// In the layout that the kernel reads: batch × length × heads × head dim.
Tensor turned(Torch& t, const Tensor& x) { return t.transpose(t.contiguous(t.transpose(x, 1, 2)), 1, 2); }

void rotate_backward(Torch& t, Node& n, Grads& g) {
  const Tensor cos = t.unpack(n, 0);
  const Tensor sin = t.unpack(n, 1);
  for (const std::size_t i : {0, 1}) g.out[i] = turned(t, g.in[i]);
}

void gated_backward(Torch& t, Node& n, Grads& g) {
  const Tensor grad = t.contiguous(g.in[0]);
  for (const int i : {0, 1}) {
    const Tensor saved = t.unpack(n, i);
    g.out[static_cast<std::size_t>(i)] = t.view(saved, saved->sizes);
  }
}

}  // namespace

Tensor rms_norm(Torch& t, const Tensor& input, const Tensor& weight, bool in_place) {
  NodeRef node = t.record("LigerRMSNormFunctionBackward", {&input, &weight}, rms_norm_backward);
  if (node) node->ints[0] = in_place ? 1 : 0;
  Restore no_grad(t.grad_enabled, false);
  const Tensor x = t.contiguous(input);
  Tensor out = t.empty(x->sizes, x->dtype, "liger::rms_norm");
  const Tensor rstd = t.empty({x->numel() / x->sizes.back()}, DType::fp32, "liger::rms_norm");
  t.save(node, 0, x);
  t.save(node, 1, weight);
  t.save(node, 2, rstd);
  return t.attach(node, std::move(out));
}

void rotate(Torch& t, Tensor& q, Tensor& k, const Tensor& cos, const Tensor& sin) {
  NodeRef node = t.record("LigerRopeFunctionBackward", {&q, &k}, rotate_backward);
  Restore no_grad(t.grad_enabled, false);
  Tensor q_turned = turned(t, q);
  Tensor k_turned = turned(t, k);
  t.save(node, 0, t.contiguous(cos));
  t.save(node, 1, t.contiguous(sin));
  q = t.attach(node, t.detach(q_turned), 0);
  k = t.attach(node, t.detach(k_turned), 1);
}

Tensor gated(Torch& t, const Tensor& gate, const Tensor& up) {
  NodeRef node = t.record("LigerSiLUMulFunctionBackward", {&gate, &up}, gated_backward);
  Restore no_grad(t.grad_enabled, false);
  const Tensor a = t.contiguous(gate);
  const Tensor b = t.contiguous(up);
  Tensor out = t.empty(a->sizes, a->dtype, "liger::swiglu");
  t.save(node, 0, a);
  t.save(node, 1, b);
  return t.attach(node, std::move(out));
}

}  // namespace oomplan::estimator::liger
