// LLaMA-Factory's PairwiseTrainer (0.9.5: train/rm/trainer.py) over trl 0.24's AutoModelForCausalLMWithValueHead: a
// forward pass of chosen and rejected rows with a value of each token. The logits are made all the same, and the model
// returns every layer's hidden states, which the wrapper holds until it has the values.
#include "one_loss.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// PairwiseDataCollatorWithPadding: labels too, which the model is given.
Stream collate(Stage& stage, const Facts& facts) { return stage.batch(facts); }

/// AutoModelForCausalLMWithValueHead.forward: the values of all tokens, and of the logits a copy in fp32.
Tensor values(Stage& stage, const Facts& facts, Stream& s) {
  Tensor out;
  s.returns_hidden = true;
  stage.call(Role::policy, facts, s, [&](Play& play, const Head& head) {
    facts.objective->play(play, head, s);
    Torch& t = play.torch;
    InBucket bucket(t, Bucket::logits_and_loss);
    out = stage.model(Role::policy).values->prepare(play, s.hidden);
    s.logits = t.to(s.logits, DType::fp32);
  });
  return out;
}

/// PairwiseTrainer.compute_loss: leaves the loss in the stream. The logits are let go of before.
void lose(Stage& stage, const Facts& facts, Stream& s) {
  Torch& t = stage.torch();
  const Tensor of_tokens = t.to(values(stage, facts, s), DType::fp32);
  s.drop_output();
  InBucket bucket(t, Bucket::logits_and_loss);
  const std::int64_t rows = of_tokens->sizes[0];
  const Tensor last = t.empty({rows, 1}, DType::int64, "aten::sub");
  const Tensor scores = t.gather_last(of_tokens, last);
  s.loss = t.div_scalar(t.sum_all(t.neg(scores)));
}

void micro_batch(Stage& stage) { train_on(stage, in_pairs(stage.facts()), collate, lose); }

void evaluate(Stage& stage) { evaluate_on(stage, in_pairs(stage.evaluation_facts()), collate, lose); }

}  // namespace

extern const Recipe reward_values;
const Recipe reward_values{"reward_values", policy_alone, micro_batch, nullptr, evaluate};

}  // namespace oomplan::estimator::recipes
