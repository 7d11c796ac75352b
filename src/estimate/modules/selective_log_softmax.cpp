#include "modules/selective_log_softmax.hpp"

namespace oomplan::estimator {
namespace {

void log_softmax_backward(Torch& t, Node& n, Grads& g) {
  const Tensor logits = t.unpack(n, 0);
  g.out[0] = t.empty(logits->sizes, logits->dtype, "aten::empty_like");
}

Tensor trl_log_softmax(Torch& t, const Tensor& logits, const Tensor& index) {
  NodeRef node = t.record("_LogProbEntropyFunctionBackward", {&logits}, log_softmax_backward);
  Restore no_grad(t.grad_enabled, false);
  Tensor log_probs = t.empty(index->sizes, DType::fp32, "aten::empty");
  const Tensor entropy = t.empty(index->sizes, DType::fp32, "aten::empty_like");
  const Tensor log_z = t.empty(index->sizes, DType::fp32, "aten::empty_like");
  const Tensor expected_logit = t.empty(index->sizes, DType::fp32, "aten::empty_like");
  t.save(node, 0, logits);
  t.save(node, 1, index);
  t.save(node, 2, log_z);
  t.save(node, 3, expected_logit);
  return t.attach(node, std::move(log_probs));
}

/// It takes tokens one below the other: rows that do not lie so, as shifted ones of a batch, are copied.
Tensor patched_log_softmax(Torch& t, const Tensor& logits, const Tensor& index) {
  const Tensor flat = t.reshape(logits, {-1, logits->sizes.back()});
  const Tensor flat_index = t.reshape(index, {-1, 1});
  NodeRef node = t.record("_SelectiveLogSoftmaxTritonBackward", {&flat}, log_softmax_backward);
  Tensor log_probs = t.empty(flat_index->sizes, DType::fp32, "aten::empty");
  const Tensor log_z = t.empty({flat->sizes[0]}, DType::fp32, "aten::empty");
  t.save(node, 0, flat);
  t.save(node, 1, flat_index);
  t.save(node, 2, log_z);
  return t.reshape(t.to(t.attach(node, std::move(log_probs)), logits->dtype), index->sizes);
}

}  // namespace

Tensor selective_log_softmax(Torch& t, const Tensor& logits, const Tensor& index, bool patched) {
  return patched ? patched_log_softmax(t, logits, index) : trl_log_softmax(t, logits, index);
}

}  // namespace oomplan::estimator
