// transformers' ForCausalLMLoss (loss/loss_utils.py): an fp32 copy of the logits, labels shifted by a pad.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_causal_lm(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  s.logits = head.logits(play, s.hidden);
  InBucket bucket(t, Bucket::logits_and_loss);
  Tensor logits = t.to(s.logits, DType::fp32);
  const Tensor labels = shifted_labels(t, s.labels);
  logits = t.view(logits, {-1, logits->sizes.back()});
  s.loss = t.cross_entropy(logits, labels);
}

}  // namespace

extern const Objective causal_lm;
const Objective causal_lm{Loss::full_logits, Task::causal_lm, Loss::full_logits, play_causal_lm};

}  // namespace oomplan::estimator::objectives
