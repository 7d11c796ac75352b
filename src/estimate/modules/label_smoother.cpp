#include "modules/label_smoother.hpp"

namespace oomplan::estimator {
namespace {

/// x.masked_fill_(mask, 0).
Tensor blanked(Torch& t, const Tensor& x, const Tensor& mask) {
  NodeRef node = t.record("MaskedFillBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor at = torch.unpack(n, 0);
    g.out[0] = torch.pointwise({&g.in[0], &at}, g.in[0]->dtype, "aten::masked_fill");
  });
  t.save(node, 0, mask);
  return t.attach(node, x);
}

Tensor mean(Torch& t, const Tensor& per_token) { return t.div_scalar(t.sum_all(per_token)); }

}  // namespace

Tensor smoothed_loss(Torch& t, Tensor logits, Tensor labels, bool shifted) {
  if (shifted) {
    const std::int64_t tokens = labels->sizes[1] - 1;
    logits = t.contiguous(t.slice(logits, 1, 0, tokens));
    labels = t.contiguous(t.slice(labels, 1, 1, tokens));
  }
  const Tensor log_probs = t.neg(t.log_softmax_last(logits));
  labels = t.unsqueeze(labels, 2);
  const Tensor padding = t.empty(labels->sizes, DType::boolean, "aten::eq");
  labels = t.empty(labels->sizes, DType::int64, "aten::clamp");
  Tensor likelihood = t.gather_last(log_probs, labels);
  Tensor smoothed = t.unsqueeze(t.sum_last(log_probs, DType::fp32), 2);
  likelihood = blanked(t, likelihood, padding);
  smoothed = blanked(t, smoothed, padding);
  likelihood = mean(t, likelihood);
  smoothed = mean(t, smoothed);
  return t.add(t.mul_scalar(likelihood), t.mul_scalar(smoothed));
}

}  // namespace oomplan::estimator
