// The cross entropy of BertForMaskedLM and its like: no fp32 copy of the logits but autocast's, except in
// ForMaskedLMLoss (loss/loss_utils.py).
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_masked_lm(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  Tensor named;
  s.logits = head.logits(play, s.hidden, &named);
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor logits = head.raised_in_loss ? t.to(s.logits, DType::fp32) : s.logits;
  s.loss = t.cross_entropy(t.view(logits, {-1, logits->sizes.back()}), t.view(s.labels, {-1}));
}

/// BartForConditionalGeneration and its like; the labels are a decoder's.
constexpr Objective of_targets{Loss::full_logits, Task::sequence_to_sequence, Loss::full_logits, play_masked_lm};

}  // namespace

extern const Objective masked_lm;
const Objective masked_lm{.loss = Loss::full_logits,
                          .task = Task::masked_lm,
                          .evaluated = Loss::full_logits,
                          .play = play_masked_lm,
                          .other_version = &of_targets};

}  // namespace oomplan::estimator::objectives
