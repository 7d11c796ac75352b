// LLaMA-Factory's second trainer (v1/core/base_trainer.py: compute_log_probs; v1/trainers/sft_trainer.py): the model is
// given the labels too, so that its output holds a loss of its own until the function returns; the trainer's is of a
// copy of the logits that have a next token, each with a weight.
#include "objective.hpp"

namespace oomplan::estimator::objectives {

extern const Objective causal_lm;

namespace {

void play_own(Play& play, const Head& head, Stream& s) { causal_lm.play(play, head, s); }

Tensor of_weighted_logits(Torch& t, const Tensor& logits, const Tensor& labels, std::int64_t /*labelled*/) {
  const std::int64_t predicted = logits->sizes[1] - 1;
  const Tensor raised = t.to(logits, DType::fp32);
  const Tensor targets = t.contiguous(t.slice(labels, 1, 1, predicted));
  const Tensor scores = t.contiguous(t.slice(raised, 1, 0, predicted));
  return t.cross_entropy(t.view(scores, {-1, scores->sizes.back()}), t.view(targets, {-1}));
}

}  // namespace

extern const Objective weighted_logprob;
const Objective weighted_logprob{
    .loss = Loss::weighted_logprob, .task = Task::causal_lm, .play = play_own, .of_logits = of_weighted_logits};

}  // namespace oomplan::estimator::objectives
