#include "head.hpp"

namespace oomplan::estimator {

Tensor Head::prepare(Play& /*play*/, const Tensor& hidden) const { return hidden; }

Tensor Head::finish(Torch& /*torch*/, Tensor logits) const { return logits; }

Tensor Head::logits(Play& play, const Tensor& hidden) const {
  const Tensor input = prepare(play, hidden);
  if (!classifies) play.torch.recorder.begin_loss();
  InBucket bucket(play.torch, Bucket::logits_and_loss);
  return finish(play.torch, projection_(play, input));
}

}  // namespace oomplan::estimator
