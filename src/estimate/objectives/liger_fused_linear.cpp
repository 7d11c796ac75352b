// Liger's fused linear cross entropy (liger-kernel 0.8.5: ops/fused_linear_cross_entropy.py, transformers/model): the
// gradients are made chunk by chunk in the forward pass, so that no tensor has tokens × vocabulary elements. As on
// cards of compute capability 8.0 and later.
#include "modules/fused_linear.hpp"
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_fused_linear(Play& play, const Head& head, Stream& s) {
  play.torch.recorder.begin_loss();
  InBucket bucket(play.torch, Bucket::logits_and_loss);
  const Tensor labels = shifted_labels(play.torch, s.labels);
  const FusedLinear function{.one_buffer = true, .adds_in_place = true};
  s.loss = play.torch.div_scalar(function(play, s.hidden, head.projection().weight(play.facts)));
}

}  // namespace

extern const Objective liger_fused_linear;
const Objective liger_fused_linear{Loss::liger_fused_linear, Task::causal_lm, Loss::liger_fused_linear,
                                   play_fused_linear, false};

}  // namespace oomplan::estimator::objectives
