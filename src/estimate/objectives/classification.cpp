// ...ForSequenceClassification, ...ForTokenClassification and ...ForMultipleChoice: the cross entropy of rows' or
// tokens' labels, or where there is one label, the mean of squares (loss/loss_utils.py; the models' own code does the
// same); or of a row's texts, each of which has one score.
#include "objective.hpp"

namespace oomplan::estimator::objectives {
namespace {

/// GenericForSequenceClassification.forward: each row's scores are those of its last token.
Tensor last_scores(Torch& t, const Stream& s, const Tensor& scores) {
  const Tensor real = t.to(t.empty(s.input_ids->sizes, DType::boolean, "aten::ne"), DType::int32);
  const Tensor positions = t.empty(s.input_ids->sizes, DType::int32, "aten::mul");
  const Tensor last = t.empty({s.input_ids->sizes[0]}, DType::int64, "aten::argmax");
  return t.slice(t.select(scores, 1), 0, 0, scores->sizes[0]);
}

/// EuroBertForSequenceClassification, "late": the mean of what tokens make, of real ones where a mask was sent.
Tensor mean_scores(Torch& t, const Stream& s, const Tensor& scores) {
  const Tensor counted = s.attention_mask ? t.mul_scalar(scores) : scores;
  return t.div_scalar(t.sum_dim(counted, 1, false));
}

/// torch's mse_loss.
Tensor mean_square(Torch& t, const Tensor& logits) {
  const Tensor error = t.sub(logits, t.to(t.zeros(logits->sizes, DType::fp32), logits->dtype));
  return t.div_scalar(t.sum_all(t.pow_scalar(error)));
}

void play_classification(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  s.logits = head.logits(play, s.hidden);
  InBucket bucket(t, Bucket::logits_and_loss);
  if (head.scores_tokens) s.logits = last_scores(t, s, s.logits);
  if (head.averages_tokens) s.logits = mean_scores(t, s, s.logits);
  const Tensor logits = head.raised_in_loss ? t.to(s.logits, DType::fp32) : s.logits;
  const bool chooses = play.facts.task == Task::multiple_choice;
  const Tensor rows = t.view(logits, {-1, chooses ? play.facts.choices : logits->sizes.back()});
  const bool measures = play.facts.labels == 1 && !chooses;
  s.loss = measures ? mean_square(t, rows) : t.cross_entropy(rows, t.view(s.labels, {-1}));
}

constexpr Objective of_pictures{Loss::full_logits, Task::classification, Loss::full_logits, play_classification};
constexpr Objective of_tokens{.loss = Loss::full_logits,
                              .task = Task::token_classification,
                              .evaluated = Loss::full_logits,
                              .play = play_classification,
                              .other_version = &of_pictures};
constexpr Objective of_choices{.loss = Loss::full_logits,
                               .task = Task::multiple_choice,
                               .evaluated = Loss::full_logits,
                               .play = play_classification,
                               .other_version = &of_tokens};

}  // namespace

extern const Objective classification;
const Objective classification{.loss = Loss::full_logits,
                               .task = Task::sequence_classification,
                               .evaluated = Loss::full_logits,
                               .play = play_classification,
                               .other_version = &of_choices};

}  // namespace oomplan::estimator::objectives
