// The loss that TRL's fused head returns (trl 1.16: trainer/utils.py add_fused_lm_head).
#include "modules/chunked_logprob.hpp"

#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_chunked_logprob(Play& play, const Head& head, Stream& s) {
  play.torch.recorder.begin_loss();
  InBucket bucket(play.torch, Bucket::logits_and_loss);
  s.loss = chunked_logprob_loss(play, s, head.projection());
}

}  // namespace

extern const Objective chunked_logprob;
const Objective chunked_logprob{Loss::chunked_logprob, Task::causal_lm, Loss::chunked_logprob, play_chunked_logprob};

}  // namespace oomplan::estimator::objectives
