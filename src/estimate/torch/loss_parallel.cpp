#include "torch/loss_parallel.hpp"

namespace oomplan::estimator {

Tensor parallel_cross_entropy(Torch& t, const Tensor& logits, const Tensor& labels) {
  const Dims rows{logits->sizes[0]};
  // _nll_loss_and_log_softmax_backward: the softmax is made again of its logarithm.
  const NodeRef node = t.record("NllLossBackward0", {&logits}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor log_probs = torch.unpack(n, 0);
    const Tensor target = torch.unpack(n, 1);
    const Tensor safe = torch.empty(target->sizes, target->dtype, "aten::where");
    const Tensor update = torch.empty(log_probs->sizes, log_probs->dtype, "aten::zeros_like");
    const Tensor masked = torch.empty(target->sizes, target->dtype, "aten::sub");
    const Tensor places = torch.empty(target->sizes, target->dtype, "aten::arange");
    Tensor softmax = torch.empty(log_probs->sizes, log_probs->dtype, "aten::exp");
    softmax = torch.empty(log_probs->sizes, log_probs->dtype, "aten::add");
    g.out[0] = torch.empty(log_probs->sizes, log_probs->dtype, "aten::mul");
  });
  Tensor log_probs;
  {
    const Tensor highest = t.empty(rows, logits->dtype, "aten::clone");
    const Tensor shifted = t.empty(logits->sizes, logits->dtype, "aten::sub");
    t.empty(logits->sizes, logits->dtype, "aten::exp");
    const Tensor sum = t.empty(rows, logits->dtype, "aten::clone");
    log_probs = t.empty(logits->sizes, logits->dtype, "aten::sub");
  }
  const Tensor safe = t.empty(rows, labels->dtype, "aten::where");
  const Tensor masked = t.empty(rows, labels->dtype, "aten::sub");
  const Tensor gathered = t.empty(rows, logits->dtype, "aten::gather");
  t.save(node, 0, log_probs);
  t.save(node, 1, labels);
  return t.attach(node, t.empty({}, logits->dtype, "aten::div"));
}

}  // namespace oomplan::estimator
