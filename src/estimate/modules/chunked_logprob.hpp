// TRL's fused head (trl 1.16: kernels/chunked_logprob.py, trainer/utils.py add_fused_lm_head): the log-probabilities of
// the labels tile by tile, so that no tensor has tokens × vocabulary elements.
#pragma once

#include "play.hpp"

namespace oomplan::estimator {

/// The loss of s.hidden against s.labels with the head's `weight` (vocabulary × width). Every position but the last of
/// a row counts as labelled: the longest that the masked batch can be.
Tensor chunked_logprob_loss(Play& play, const Stream& s, const Tensor& weight);

}  // namespace oomplan::estimator
