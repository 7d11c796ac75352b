// torchtune's DPO (0.6.1: recipes/lora_dpo_single_device.py, lora_dpo_distributed.py, full_dpo_distributed.py): pairs
// of a chosen and a rejected row in one batch, scored by the policy and by a reference, whose models return logits in
// fp32.
#include <array>
#include <vector>

#include "objective.hpp"
#include "one_loss.hpp"
#include "scores.hpp"

namespace oomplan::estimator::recipes {
namespace {

/// padded_collate_dpo: chosen rows, then rejected ones, without a mask.
Stream collate(Stage& stage, const Facts& facts) { return stage.batch(facts); }

Facts doubled(Facts facts) {
  facts.batch = saturating_mul(facts.batch, 2);
  return facts;
}

/// rlhf.get_batch_log_probs: of each row.
Tensor log_probs_of(Torch& t, const Tensor& logits, const Tensor& labels) {
  const std::int64_t length = labels->sizes[1] - 1;
  const Tensor index = t.clone(t.slice(labels, 1, 1, length));
  const Tensor mask = t.empty(index->sizes, DType::boolean, "aten::ne");
  Tensor log_probs;
  {
    const Tensor divided = t.div_scalar(t.slice(logits, 1, 0, length));  // By a temperature.
    log_probs = t.log_softmax_last(divided);
  }
  log_probs = t.squeeze(t.gather_last(log_probs, t.unsqueeze(index, 2)), 2);
  return t.sum_last(t.mul_scalar(log_probs));
}

/// TransformerDecoder.unembed: self.output(h).float()
void raised_logits(Play& play, const Head& head, Stream& s) {
  logits_alone.play(play, head, s);
  InBucket bucket(play.torch, Bucket::logits_and_loss);
  s.logits = play.torch.to(s.logits, DType::fp32);
}

/// What concatenated_forward returns.
struct Scored {
  std::vector<Tensor> log_probs{};  ///< Of all rows, or of the halves.
  Tensor logits{};
};

/// Where a whole model is trained the halves are scored one after the other.
Scored score(Stage& stage, Role role, const Facts& facts, Stream s) {
  Torch& t = stage.torch();
  const Tensor labels = std::move(s.labels);
  stage.call(role, facts, s, [&](Play& play, const Head& head) { raised_logits(play, head, s); });
  InBucket bucket(t, Bucket::logits_and_loss);
  Scored out{{}, std::move(s.logits)};
  const bool apart = stage.plan().recipe.reference.value == Reference::model;
  const std::int64_t rows = labels->sizes[0];
  const std::int64_t each = apart ? rows / 2 : rows;
  for (std::int64_t row = 0; row < rows; row += each) {
    out.log_probs.push_back(log_probs_of(t, t.slice(out.logits, 0, row, each), t.slice(labels, 0, row, each)));
  }
  return out;
}

Scored score_by_reference(Stage& stage, const Facts& policy_facts, const Stream& batch) {
  const bool other = stage.plan().recipe.reference.value == Reference::model;
  const Role role = other ? Role::reference : Role::policy;
  Facts facts = other ? Stage::facts_of(role, policy_facts) : policy_facts;
  facts.adapters_off = true;
  facts.checkpointing = false;
  Restore no_grad(stage.torch().grad_enabled, false);
  stage.begin(Phase::reference);
  return score(stage, role, facts, batch);
}

/// A step of train(). The variables of an adapter's recipe keep the reference's logits until the next takes their
/// place.
void lose(Stage& stage, const Facts& facts, Stream& s) {
  Torch& t = stage.torch();
  Scored policy = score(stage, Role::policy, facts, s);
  policy.logits.reset();
  Scored reference = score_by_reference(stage, facts, s);
  const bool keeps = stage.plan().recipe.reference.value != Reference::model;
  stage.held().logits = keeps ? std::move(reference.logits) : Tensor();
  reference.logits.reset();
  InBucket bucket(t, Bucket::logits_and_loss);
  Tensor total;
  for (std::size_t i = 0; i < policy.log_probs.size(); ++i) {
    const Tensor apart = t.sub(policy.log_probs[i], reference.log_probs[i]);
    total = total ? t.sub(total, apart) : apart;
  }
  s.loss = t.div_scalar(t.sum_all(t.neg(total)));
}

void micro_batch(Stage& stage) { train_on(stage, doubled(stage.facts()), collate, lose); }

}  // namespace

extern const Recipe raised_pairs;
const Recipe raised_pairs{
    .name = "raised_pairs", .roles = policy_and_reference, .micro_batch = micro_batch, .holds = true};

}  // namespace oomplan::estimator::recipes
