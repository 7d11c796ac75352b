// TRL's ORPOTrainer and CPOTrainer, SimPO's loss too (trl 1.16: experimental/orpo/orpo_trainer.py, cpo/cpo_trainer.py):
// one forward pass of chosen and rejected rows, whose logits are all there. What is made of a row's log-probability is
// as small as the batch has rows, whichever the loss.
#include "modules/selective_log_softmax.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// DPODataCollatorWithPadding: ids, mask and labels of the chosen and of the rejected rows, ids and mask of prompts.
struct Batch {
  Stream chosen{};
  Stream rejected{};
  Stream prompts{};
};

Batch collate(Stage& stage, Facts facts) {
  facts.sends_masks = true;
  Batch out{stage.batch(facts), stage.batch(facts), stage.batch(facts)};
  out.prompts.labels.reset();
  return out;
}

/// The trainers' concatenated_inputs.
Stream concatenated(Torch& t, const Batch& batch) {
  InBucket bucket(t, Bucket::inputs);
  Stream out;
  out.input_ids = t.cat({batch.chosen.input_ids, batch.rejected.input_ids}, 0);
  out.attention_mask = t.cat({batch.chosen.attention_mask, batch.rejected.attention_mask}, 0);
  out.labels = t.cat({batch.chosen.labels, batch.rejected.labels}, 0);
  return out;
}

/// cross_entropy_loss of the first `rows`, each token by the logits before it.
Tensor cross_entropy_of(Torch& t, const Tensor& all_logits, const Tensor& all_labels, std::int64_t rows) {
  const std::int64_t length = all_labels->sizes[1] - 1;
  Tensor logits = t.slice(t.slice(all_logits, 0, 0, rows), 1, 0, length);
  logits = t.contiguous(logits);
  const Tensor labels = t.contiguous(t.slice(t.slice(all_labels, 0, 0, rows), 1, 1, length));
  return t.cross_entropy(t.view(logits, {-1, logits->sizes.back()}), t.view(labels, {-1}));
}

/// get_batch_logps.
Tensor scores_of(Torch& t, const Tensor& all_logits, const Tensor& all_labels, const Facts& facts) {
  const std::int64_t length = all_labels->sizes[1] - 1;
  const Tensor labels = t.clone(t.slice(all_labels, 1, 1, length));
  const Tensor mask = t.empty(labels->sizes, DType::boolean, "aten::ne");
  const LogSoftmax by = facts.patched_log_softmax ? LogSoftmax::patched
                        : facts.unsloth           ? LogSoftmax::by_row  // trl 0.22.2
                                                  : LogSoftmax::kernel;
  const Tensor log_probs = selective_log_softmax(t, t.slice(all_logits, 1, 0, length), labels, by);
  return t.sum_last(t.mul_scalar(log_probs));
}

/// get_batch_loss_metrics.
Tensor lose(Stage& stage, const Facts& facts, const Batch& batch) {
  Torch& t = stage.torch();
  Stream s = concatenated(t, batch);
  const Tensor all_labels = s.labels;
  stage.call(Role::policy, facts, logits_alone, s);
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor labels = t.clone(all_labels);
  Tensor likelihood;
  if (stage.plan().recipe.second_term.value) likelihood = cross_entropy_of(t, s.logits, labels, facts.batch / 2);
  const Tensor loss = t.div_scalar(t.sum_all(scores_of(t, s.logits, all_labels, facts)));
  return likelihood ? t.sub(likelihood, loss) : loss;
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().drops, false);  // disable_dropout
  stage.begin(Phase::between);
  const Facts facts = in_pairs(stage.facts());  // Checkpoints look at them in backward.
  const Batch batch = collate(stage, stage.facts());
  stage.begin(Phase::forward);
  Stream s;
  s.loss = lose(stage, facts, batch);
  stage.backward(s);
  stage.begin(Phase::between);
}

void evaluate(Stage& stage) {
  const Facts facts = stage.evaluation_facts();
  stage.without_training([&] {
    stage.begin(Phase::evaluation);
    lose(stage, in_pairs(facts), collate(stage, facts));
  });
}

}  // namespace

extern const Recipe reference_free;
const Recipe reference_free{"reference_free", policy_alone, micro_batch, nullptr, evaluate};

}  // namespace oomplan::estimator::recipes
