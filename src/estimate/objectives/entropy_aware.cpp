// EAFT: the cross entropy of each token, weighted by the entropy of its twenty best logits, for which the labelled
// tokens' logits are copied. As LLaMA-Factory 0.9.5 has it (train/trainer_utils.py: eaft_loss_func), and as Axolotl
// 0.18.0, which takes the loss of such a copy too (monkeypatch/loss/eaft.py).
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

constexpr std::int64_t best = 20;

/// What is made of the best logits, a number a token of which is left.
void weigh(Torch& t, const Tensor& logits) {
  const Tensor values = t.empty({logits->sizes[0], best}, DType::fp32, "aten::topk");
  const Tensor indices = t.empty({logits->sizes[0], best}, DType::int64, "aten::topk");
  const Tensor shares = t.pointwise({&values}, DType::fp32, "aten::exp");
  t.pointwise({&shares}, DType::fp32, "aten::mul");
}

/// logits[mask], the mask of labels that count.
Tensor counted(Torch& t, const Tensor& logits, std::int64_t labelled) {
  const Tensor rows = t.empty({labelled}, DType::int64, "aten::nonzero");
  return t.index_rows(logits, rows);
}

/// _eaft_cross_entropy, whose copy of the logits lives until it returns.
Tensor of_all_logits(Torch& t, const Tensor& logits, const Tensor& labels, std::int64_t labelled) {
  const Tensor raised = t.to(logits, DType::fp32);
  const Tensor shifted = shifted_labels(t, labels);
  const Tensor flat = t.view(raised, {-1, raised->sizes.back()});
  Tensor loss = t.cross_entropy(flat, shifted);
  Restore no_grad(t.grad_enabled, false);
  const Tensor detached = counted(t, flat, labelled);
  weigh(t, detached);
  return loss;
}

/// eaft_loss of Axolotl, whose logits are those of the tokens that have a next one.
Tensor of_labelled_logits(Torch& t, const Tensor& logits, const Tensor& labels, std::int64_t labelled) {
  const std::int64_t predicted = logits->sizes[1] - 1;
  const Tensor shifted = t.contiguous(t.slice(logits, 1, 0, predicted));
  const Tensor shifted_targets = t.contiguous(t.slice(labels, 1, 1, predicted));
  const Tensor flat = t.view(shifted, {-1, shifted->sizes.back()});
  const Tensor targets = t.view(shifted_targets, {-1});
  {
    Restore no_grad(t.grad_enabled, false);
    weigh(t, t.to(counted(t, flat, labelled), DType::fp32));
  }
  return t.cross_entropy(t.to(counted(t, flat, labelled), DType::fp32), counted(t, targets, labelled));
}

constexpr Objective masked{.loss = Loss::masked_entropy_aware,
                           .task = Task::causal_lm,
                           .evaluated = Loss::masked_entropy_aware,
                           .of_logits = of_labelled_logits};

}  // namespace

extern const Objective entropy_aware;

const Objective entropy_aware{.loss = Loss::entropy_aware,
                              .task = Task::causal_lm,
                              .evaluated = Loss::entropy_aware,
                              .other_version = &masked,
                              .of_logits = of_all_logits};

}  // namespace oomplan::estimator::objectives
