// Direct preference optimisation as TRL's DPOTrainer plays it (trl 1.16 and 1.8: trainer/dpo_trainer.py): chosen and
// rejected rows in one batch, scored by the policy and by a reference with no gradients. What is made of the scores is
// as small as the batch has rows, whichever the loss.
#include "one_loss.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// The autocast of compute_loss before trl 1.0 around both models of a quantized policy that
/// peft_module_casting_to_bf16 was called for: what it casts stays until the loss is there.
class AroundBoth {
 public:
  AroundBoth(Torch& torch, const Facts& facts)
      : torch_(torch), is_(facts.quantized && facts.kbit_upcast && facts.fp32_while_loading) {
    if (is_) torch_.enter_autocast(facts.autocast);
  }
  AroundBoth(const AroundBoth&) = delete;
  AroundBoth& operator=(const AroundBoth&) = delete;
  ~AroundBoth() {
    if (is_) torch_.exit_autocast();
  }

 private:
  Torch& torch_;
  bool is_;
};

/// DPOTrainer._compute_loss: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, ScoredRows& pairs) {
  Torch& t = stage.torch();
  const AroundBoth around(t, facts);
  const Scores policy = policy_scores(stage, facts, pairs);
  const bool compares = stage.plan().recipe.reference.value != Reference::precomputed;
  const Scores reference = compares ? reference_scores(stage, facts, pairs) : Scores{};
  const Tensor ratios = compares ? t.sub(policy.sums, reference.sums) : policy.sums;
  InBucket bucket(t, Bucket::logits_and_loss);
  pairs.stream.loss = t.div_scalar(t.sum_all(t.neg(ratios)));
  const bool means = facts.pair_scores != PairScores::held;             // Those take a mean of the logits as they are.
  if (policy.logits && means) measure_halves(t, facts, policy.logits);  // The metrics of trl 1.8.
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().drops, false);  // disable_dropout
  train_on(stage, in_pairs(stage.facts()), arrive, lose);
}

void fetch_others(Stage& stage) {
  stage.fetch_others([&] { return kinds_of(arrive(stage, in_pairs(stage.facts()))); });
}

/// DPOTrainer._precompute_ref_logps, as the trainer is made.
void before(Stage& stage) {
  if (stage.plan().recipe.reference.value != Reference::precomputed) return;
  const Facts facts = in_pairs(precomputing(stage));
  stage.without_training([&] {
    stage.begin(Phase::reference);
    reference_scores(stage, facts, arrive(stage, facts));
  });
}

void evaluate(Stage& stage) { evaluate_on(stage, in_pairs(stage.evaluation_facts()), arrive, lose); }

}  // namespace

extern const Recipe dpo;
const Recipe dpo{"dpo", policy_and_reference, micro_batch, before, evaluate, fetch_others};

}  // namespace oomplan::estimator::recipes
