// Cut cross entropy of Axolotl's fork (axolotl-ai-cloud/ml-cross-entropy at 5f0c7a7: cut_cross_entropy/cce.py,
// cce_lse_forward.py, cce_backward.py, transformers/llama.py), as cce_patch() sets it: no logits, neither in
// evaluation.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

constexpr std::int64_t rows_of_a_lock = 128;
constexpr std::int64_t columns_of_a_lock = 64;

/// A lock for each block of a gradient that is as large as x.
Tensor locks_of(Torch& t, std::int64_t rows, const Tensor& x) {
  const Dims blocks{divided_up(rows, rows_of_a_lock), divided_up(x->sizes[1], columns_of_a_lock)};
  return t.empty(blocks, DType::int32, "aten::new_zeros");
}

/// torch.argsort(logit_avg).to(torch.int32): inductor leaves sorting to aten.
Tensor sorted(Torch& t, const Tensor& logit_avg) {
  const Tensor values = t.empty(logit_avg->sizes, DType::fp32, "aten::sort");
  const Tensor order = t.empty(logit_avg->sizes, DType::int64, "aten::sort");
  return t.empty(logit_avg->sizes, DType::int32, "aten::_to_copy");
}

void cut_backward(Torch& t, Node& n, Grads& g) {
  const Tensor hidden = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const Tensor log_sums = t.unpack(n, 2);
  const Tensor targets = t.unpack(n, 3);
  const Tensor valids = t.unpack(n, 4);
  const Tensor ordering = sorted(t, t.unpack(n, 5));
  if (n.needs(0)) g.out[0] = t.zeros(hidden->sizes, hidden->dtype);
  if (n.needs(1)) g.out[1] = t.zeros(weight->sizes, weight->dtype);
  const std::int64_t rows = log_sums->sizes[0];
  const Tensor locks = n.needs(0) ? locks_of(t, rows, hidden) : Tensor();
  const Tensor weight_locks = n.needs(1) ? locks_of(t, weight->sizes[0], weight) : Tensor();
}

/// _build_flat_valids: where a label counts. Every one does, in the longest batch that can come.
Tensor valids_of(Torch& t, const Tensor& labels) {
  const std::int64_t count = saturating_mul(labels->sizes[0], labels->sizes[1] - 1);
  Tensor places;
  {
    const Tensor counts = t.empty({labels->sizes[0], labels->sizes[1] - 1}, DType::boolean, "aten::ne");
    const Tensor found = t.empty({2, count}, DType::int64, "aten::nonzero");
    places = t.empty({count, 2}, DType::int32, "aten::_to_copy");
  }
  return t.empty({count}, DType::int64, "aten::sum");
}

/// LinearCrossEntropyFunction.
Tensor cut_loss(Torch& t, const Tensor& states, const Tensor& weight, const Tensor& labels) {
  const Tensor valids = valids_of(t, labels);
  const Tensor hidden = t.view(states, {-1, states->sizes.back()});
  const Tensor targets = t.view(labels, {-1});
  NodeRef node = t.record("LinearCrossEntropyFunctionBackward", {&hidden, &weight}, cut_backward);
  const bool trains = bool(node);
  Restore no_grad(t.grad_enabled, false);
  const Dims rows{valids->sizes[0]};
  const Tensor log_sums = t.empty(rows, DType::fp32, "aten::new_full");
  const Tensor locks = t.empty({divided_up(rows[0], rows_of_a_lock)}, DType::int32, "aten::new_full");
  const Tensor logit_avg = trains ? t.empty({weight->sizes[0]}, DType::fp32, "aten::new_full") : Tensor();
  const Tensor losses = t.empty(rows, DType::fp32, "aten::new_zeros");
  t.save(node, 0, hidden);
  t.save(node, 1, weight);
  t.save(node, 2, log_sums);
  t.save(node, 3, targets);
  t.save(node, 4, valids);
  t.save(node, 5, logit_avg);
  return t.attach(node, t.empty({}, DType::fp32, "aten::sum"));
}

void play_cut_cross_entropy(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  t.recorder.begin_loss();
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor& weight = head.projection().weight(play.facts);
  const bool raised = weight->dtype == DType::bf16 && s.hidden->dtype == DType::fp32;
  const Tensor hidden = raised ? t.to(s.hidden, weight->dtype) : s.hidden;
  s.loss = t.div_scalar(cut_loss(t, t.contiguous(hidden), weight, s.labels));
}

}  // namespace

extern const Objective cut_cross_entropy;
const Objective cut_cross_entropy{Loss::cut_cross_entropy, Task::causal_lm, Loss::cut_cross_entropy,
                                  play_cut_cross_entropy, false};

}  // namespace oomplan::estimator::objectives
