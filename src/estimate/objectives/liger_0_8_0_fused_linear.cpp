// The same of liger-kernel 0.8.0, which Axolotl 0.18.0 asks for: logits anew for each chunk while the last chunk's are
// still named, and the head's gradient added from a product of its size. The models' forward takes it only in train()
// or where it is told skip_logits, which Axolotl's trainer does not.
#include "modules/fused_linear.hpp"
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_fused_linear(Play& play, const Head& head, Stream& s) {
  play.torch.recorder.begin_loss();
  InBucket bucket(play.torch, Bucket::logits_and_loss);
  const Tensor labels = shifted_labels(play.torch, s.labels);
  const FusedLinear function{.one_buffer = false, .adds_in_place = false};
  s.loss = play.torch.div_scalar(function(play, s.hidden, head.projection().weight(play.facts)));
}

}  // namespace

extern const Objective liger_0_8_0_fused_linear;
const Objective liger_0_8_0_fused_linear{Loss::liger_0_8_0_fused_linear, Task::causal_lm, Loss::full_logits,
                                         play_fused_linear, false};

}  // namespace oomplan::estimator::objectives
