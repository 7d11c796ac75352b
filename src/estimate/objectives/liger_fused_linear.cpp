// Liger's fused linear cross entropy (liger-kernel: ops/fused_linear_cross_entropy.py, transformers/model): the
// gradients are made chunk by chunk in the forward pass, so that no tensor has tokens × vocabulary elements. As on
// cards of compute capability 8.0 and later.
#include "modules/fused_linear.hpp"
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

constexpr FusedLinear version_0_8_5{.one_buffer = true, .adds_in_place = true};

// What Axolotl 0.18.0 asks for: logits anew for each chunk while the last chunk's are still named, and the head's
// gradient added from a product of its size.
constexpr FusedLinear version_0_8_0{.one_buffer = false, .adds_in_place = false};

template <FusedLinear function>
void play_fused_linear(Play& play, const Head& head, Stream& s) {
  play.torch.recorder.begin_loss();
  InBucket bucket(play.torch, Bucket::logits_and_loss);
  const Tensor labels = shifted_labels(play.torch, s.labels);
  const Tensor weight = play.policy.read_weight(play.torch, head.projection().weight(play.facts));
  s.loss = play.torch.div_scalar(function(play, s.hidden, weight));
}

// The models' forward takes it only in train() or where it is told skip_logits, which Axolotl's trainer does not.
const Objective of_version_0_8_0{Loss::liger_0_8_0_fused_linear, Task::causal_lm, Loss::full_logits,
                                 play_fused_linear<version_0_8_0>, false};

}  // namespace

extern const Objective liger_fused_linear;
const Objective liger_fused_linear{Loss::liger_fused_linear,         Task::causal_lm, Loss::liger_fused_linear,
                                   play_fused_linear<version_0_8_5>, false,           &of_version_0_8_0};

}  // namespace oomplan::estimator::objectives
