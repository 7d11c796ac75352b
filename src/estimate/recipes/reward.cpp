// TRL's RewardTrainer (trl 1.16: trainer/reward_trainer.py): a model with a head of one score, and a forward pass of
// chosen and rejected rows. What is made of the scores is as small as the batch has rows.
#include "one_loss.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// DataCollatorForPreference: no labels.
Stream collate(Stage& stage, const Facts& facts) {
  Stream s = stage.batch(facts);
  s.labels.reset();
  return s;
}

/// GenericForSequenceClassification.forward: each row's score is that of its last token.
void play_scores(Play& play, const Head& head, Stream& s) {
  Torch& t = play.torch;
  const Tensor scores = head.logits(play, s.hidden);
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor real = t.to(t.empty(s.input_ids->sizes, DType::boolean, "aten::ne"), DType::int32);
  const Tensor positions = t.empty(s.input_ids->sizes, DType::int32, "aten::mul");
  const Tensor last = t.empty({s.input_ids->sizes[0]}, DType::int64, "aten::argmax");
  s.logits = t.slice(t.select(scores, 1), 0, 0, scores->sizes[0]);
}

constexpr Objective last_score{Loss::full_logits, Task::causal_lm, Loss::full_logits, play_scores};

/// RewardTrainer.compute_loss: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, Stream& s) {
  Torch& t = stage.torch();
  stage.call(Role::policy, facts, last_score, s);
  InBucket bucket(t, Bucket::logits_and_loss);
  s.loss = t.div_scalar(t.sum_all(t.neg(s.logits)));
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().drops, false);  // disable_dropout
  train_on(stage, in_pairs(stage.facts()), collate, lose);
}

void fetch_others(Stage& stage) {
  stage.fetch_others([&] {
    const Stream one = collate(stage, in_pairs(stage.facts()));
    return std::vector{one.input_ids, one.attention_mask};
  });
}

void evaluate(Stage& stage) { evaluate_on(stage, in_pairs(stage.evaluation_facts()), collate, lose); }

}  // namespace

extern const Recipe reward;
const Recipe reward{"reward", policy_alone, micro_batch, nullptr, evaluate, fetch_others};

}  // namespace oomplan::estimator::recipes
