#include "modules/selective_log_softmax.hpp"

#include <algorithm>
#include <vector>

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

Dims row_of(const Dims& logits) { return {logits[1], logits[2]}; }

/// unbind's backward stacks the rows' gradients once all of them are there. `of_row` makes one.
Tensor stacked(Torch& t, const Dims& logits, DType dtype, Tensor (*of_row)(Torch&, const Dims&, DType)) {
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < logits[0]; ++i) rows.push_back(of_row(t, row_of(logits), dtype));
  return t.empty(logits, dtype, "aten::stack");
}

/// FunctionsManual.cpp, logsumexp_backward: grad * (self - result).exp()
void logsumexp_backward(Torch& t, Node& n, Grads& g) {
  const Tensor logits = t.unpack(n, 0);
  g.out[0] = stacked(t, logits->sizes, logits->dtype, [](Torch& torch, const Dims& row, DType dtype) {
    const Tensor apart = torch.empty(row, dtype, "aten::sub");
    const Tensor shares = torch.empty(row, dtype, "aten::exp");
    return torch.empty(row, dtype, "aten::mul");
  });
}

/// What a row saved goes as its gradient comes.
void log_softmaxes_backward(Torch& t, Node& n, Grads& g) {
  const DType dtype = t.unpack(n, 0)->dtype;
  n.saved[0].clear();
  g.out[0] = stacked(t, n.dims, dtype, [](Torch& torch, const Dims& row, DType of_row) {
    const Tensor of_gather = torch.empty(row, of_row, "aten::zeros");
    return torch.empty(row, of_row, "aten::_log_softmax_backward_data");
  });
}

/// Of logits in fp32.
Tensor by_logsumexp(Torch& t, const Tensor& logits, const Tensor& index) {
  const Tensor selected = t.squeeze(t.gather_last(logits, t.unsqueeze(index, 2)), 2);
  NodeRef node = t.record("LogsumexpBackward0", {&logits}, logsumexp_backward);
  t.save(node, 0, logits);
  t.empty(row_of(logits->sizes), logits->dtype, "aten::sub");  // Of one row after the other.
  return t.sub(selected, t.attach(node, t.empty(index->sizes, logits->dtype, "aten::stack")));
}

/// Of logits in bf16 or fp16, of which a gradient wants each row's; else there are two at a time.
Tensor by_log_softmax(Torch& t, const Tensor& logits, const Tensor& index) {
  NodeRef node = t.record("LogSoftmaxBackward0", {&logits}, log_softmaxes_backward);
  Dims held = logits->sizes;
  if (!node) held[0] = std::min<std::int64_t>(held[0], 2);
  const Tensor rows = t.empty(held, logits->dtype, "aten::_log_softmax");
  if (node) node->dims = logits->sizes;
  t.save(node, 0, rows);
  return t.attach(node, t.empty(index->sizes, logits->dtype, "aten::stack"));
}

}  // namespace

Tensor selective_log_softmax(Torch& t, const Tensor& logits, const Tensor& index, LogSoftmax how) {
  if (how == LogSoftmax::by_row)
    return logits->dtype == DType::fp32 ? by_logsumexp(t, logits, index) : by_log_softmax(t, logits, index);
  return how == LogSoftmax::patched ? patched_log_softmax(t, logits, index) : trl_log_softmax(t, logits, index);
}

}  // namespace oomplan::estimator
