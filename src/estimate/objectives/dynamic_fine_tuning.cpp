// LLaMA-Factory 0.9.5's dft_loss_func (train/trainer_utils.py): the cross entropy of each token, weighted by a number
// of it. What a token has one number of is left out.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

Tensor of_logits(Torch& t, const Tensor& logits, const Tensor& labels, std::int64_t /*labelled*/) {
  const Tensor raised = t.to(logits, DType::fp32);
  const Tensor shifted = shifted_labels(t, labels);
  return t.cross_entropy(t.view(raised, {-1, raised->sizes.back()}), shifted);
}

}  // namespace

extern const Objective dynamic_fine_tuning;
const Objective dynamic_fine_tuning{.loss = Loss::dynamic_fine_tuning, .task = Task::causal_lm, .of_logits = of_logits};

}  // namespace oomplan::estimator::objectives
