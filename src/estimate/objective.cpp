#include "objective.hpp"

namespace oomplan::estimator {

namespace {
void play_logits(Play& play, const Head& head, Stream& s) { s.logits = head.logits(play, s.hidden); }
}  // namespace

const Objective logits_alone{.play = play_logits};

Tensor shifted_labels(Torch& t, const Tensor& labels) {
  if (t.ring.ranks > 1) return t.view(labels, {-1});  // Of rows that ranks share they come shifted.
  const Tensor padded = t.pad_last(labels, 1);
  return t.view(t.contiguous(t.slice(padded, 1, 1, labels->sizes[1])), {-1});
}

}  // namespace oomplan::estimator
