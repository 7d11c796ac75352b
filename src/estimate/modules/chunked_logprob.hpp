// TRL's fused head (trl 1.16: kernels/chunked_logprob.py, trainer/utils.py add_fused_lm_head): the log-probabilities of
// the labels tile by tile, so that no tensor has tokens × vocabulary elements.
#pragma once

#include "modules/linear.hpp"
#include "play.hpp"

namespace oomplan::estimator {

/// What the fused head returns of each position: rows × (length - 1). Only the first asks for a gradient.
struct TokenLogProbs {
  Tensor mask{};  ///< Where a label is.
  Tensor log_probs{};
  Tensor entropy{};
  Tensor mean_logits{};  ///< Where it is asked for.
  Tensor is_top1{};
};

/// Of `states` (rows × length × width) and `labels` with the head's `projection` (vocabulary × width); what a model
/// scales and caps of its logits is done within the kernel. `labelled` of a row's positions have a label, or all but
/// the last where it is 0.
TokenLogProbs chunked_log_probs(Play& play, const Tensor& states, const Tensor& labels, const Linear& projection,
                                bool mean_logits, std::int64_t labelled);

/// The loss of s.hidden against s.labels with the head's `projection`. Where the facts do not say how many positions of
/// a row have a label, every one but the last counts as labelled: the longest that the masked batch can be.
Tensor chunked_logprob_loss(Play& play, const Stream& s, const Linear& projection);

}  // namespace oomplan::estimator
