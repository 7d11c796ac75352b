// ...ForQuestionAnswering: a score of each token as an answer's first and as its last, and the mean of both cross
// entropies (loss/loss_utils.py: ForQuestionAnsweringLoss; the models' own code does the same).
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

void play_question_answering(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  const Tensor logits = head.logits(play, s.hidden);
  InBucket bucket(t, Bucket::logits_and_loss);
  const auto ends = t.split(logits, 1, 2);
  const Tensor start = t.contiguous(t.squeeze(ends[0], 2));
  const Tensor end = t.contiguous(t.squeeze(ends[1], 2));
  const Tensor start_positions = t.clamp(s.labels);
  const Tensor end_positions = t.clamp(s.labels);
  const Tensor start_loss = t.cross_entropy(start, start_positions);
  const Tensor end_loss = t.cross_entropy(end, end_positions);
  s.loss = t.div_scalar(t.add(start_loss, end_loss));
  s.logits = start;
  s.returned.push_back(end);
}

}  // namespace

extern const Objective question_answering;
const Objective question_answering{Loss::full_logits, Task::question_answering, Loss::full_logits,
                                   play_question_answering};

}  // namespace oomplan::estimator::objectives
