// diffusers' _gradient_checkpointing_func: a module of a model that has some of its modules checkpointed.
#pragma once

#include <functional>
#include <utility>

#include "play.hpp"

namespace oomplan::estimator {

/// `module` of x, in a checkpoint where the plan has them. It holds on to what `module` does.
inline Tensor checkpointed(Play& play, const Tensor& x, std::function<Tensor(Play&, const Tensor&)> module) {
  if (!play.facts.checkpointing || !play.torch.grad_enabled) return module(play, x);
  const auto forward = [play, module = std::move(module)](const Tensor& input) mutable { return module(play, input); };
  return play.torch.checkpoint(x, forward, {.early_stop = play.facts.early_stop});
}

}  // namespace oomplan::estimator
