#include "head.hpp"

#include <utility>

namespace oomplan::estimator {

Tensor Head::prepare(Play& /*play*/, const Tensor& hidden) const { return hidden; }

Tensor Head::finish(Torch& /*torch*/, Tensor logits) const { return logits; }

Tensor Head::logits(Play& play, const Tensor& hidden, Tensor* named) const {
  const Tensor input = prepare(play, hidden);
  if (named != nullptr && names_input) *named = input;
  if (!classifies) play.torch.recorder.begin_loss();
  InBucket bucket(play.torch, Bucket::logits_and_loss);
  // TRL's hooks on the head keep what it saves from being offloaded.
  Restore kept(play.torch.offload, static_cast<ActivationOffload*>(nullptr));
  const Tensor entered = play.policy.enter_module(play.torch, Site::head, input);
  Tensor product = projection_(play, entered);
  product = play.policy.leave_module(play.torch, Site::head, product);
  return finish(play.torch, std::move(product));
}

}  // namespace oomplan::estimator
