// CLIPModel and SiglipModel with return_loss: the loss is the model's own.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_contrastive(Play& play, const Head& head, Stream& s) {
  InBucket bucket(play.torch, Bucket::logits_and_loss);
  head.match(play, s.hidden, s.taken, s);
}

}  // namespace

extern const Objective contrastive;
const Objective contrastive{Loss::full_logits, Task::contrastive, Loss::full_logits, play_contrastive};

}  // namespace oomplan::estimator::objectives
