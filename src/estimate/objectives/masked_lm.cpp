// The cross entropy of BertForMaskedLM and RobertaForMaskedLM: no fp32 copy of the logits but autocast's.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_masked_lm(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  s.logits = head.logits(play, s.hidden);
  InBucket bucket(t, Bucket::logits_and_loss);
  s.loss = t.cross_entropy(t.view(s.logits, {-1, s.logits->sizes.back()}), t.view(s.labels, {-1}));
}

}  // namespace

extern const Objective masked_lm;
const Objective masked_lm{Loss::full_logits, Task::masked_lm, Loss::full_logits, play_masked_lm};

}  // namespace oomplan::estimator::objectives
