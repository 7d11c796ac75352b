// Forward hooks on the embedding of tokens, in the order in which they are put there.
#pragma once

#include <utility>

#include "../play.hpp"

namespace oomplan::estimator {

/// What they make of its output. peft asks it for a gradient where a frozen model is checkpointed
/// (enable_input_require_grads); NEFTune adds noise to it in training, as a tensor of its own
/// (transformers/integrations/neftune.py: neftune_post_forward_hook).
inline Tensor hooked_tokens(const Play& play, Tensor tokens) {
  Torch& t = play.torch;
  if (play.facts.input_grads) tokens->requires_grad = true;
  if (!play.facts.neftune || !t.training) return tokens;
  return t.add(tokens, t.zeros(tokens->sizes, tokens->dtype));
}

}  // namespace oomplan::estimator
