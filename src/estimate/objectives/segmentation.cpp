// ...ForSemanticSegmentation: the logits, resized to the labels' picture, and the cross entropy of each pixel.
#include "objective.hpp"
#include "torch/upsampling.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_segmentation(Play& play, const Head& /*head*/, Stream& s) {
  Torch& t = play.torch;
  InBucket bucket(t, Bucket::logits_and_loss);
  s.logits = std::exchange(s.hidden, {});
  const Tensor resized = upsample_bilinear(t, s.logits, s.labels->sizes[1], s.labels->sizes[2]);
  s.loss = t.cross_entropy(resized, s.labels);
}

}  // namespace

extern const Objective segmentation;
const Objective segmentation{Loss::full_logits, Task::segmentation, Loss::full_logits, play_segmentation};

}  // namespace oomplan::estimator::objectives
