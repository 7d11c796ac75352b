// TRL's GKDTrainer (trl 1.16: experimental/gkd/gkd_trainer.py) on rows as they come: the student's logits are compared
// with those of a teacher, which has no gradients and fills a key-value cache that nobody reads.
#include <algorithm>
#include <array>

#include "one_loss.hpp"
#include "recipe.hpp"
#include "torch/logsumexp.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::recipes {
namespace {

std::span<const Role> student_and_teacher(const TrainingPlan& /*plan*/) {
  static constexpr std::array both{Role::policy, Role::teacher};
  return both;
}

/// Of a row's tokens, those that the loss is of.
std::int64_t completion_of(const Facts& facts) {
  const std::int64_t predicted = std::max<std::int64_t>(facts.length - 1, 1);
  return facts.labelled > 0 ? std::min(facts.labelled, predicted) : predicted;
}

/// DataCollatorForChatML: beside the rows their prompts, and where each token's text begins and ends.
Stream arrive(Stage& stage, const Facts& facts) {
  Torch& t = stage.torch();
  Stream s = stage.batch(facts);
  InBucket bucket(t, Bucket::inputs);
  const std::int64_t prompt = std::max<std::int64_t>(facts.length - completion_of(facts), 1);
  for (int i = 0; i < 2; ++i) s.sent.push_back(t.empty({facts.batch, prompt}, DType::int64, "batch"));
  s.sent.push_back(t.empty({facts.batch, facts.length, 2}, DType::int64, "batch"));
  return s;
}

/// The logits that predict a token, divided by a temperature of 1.
Tensor shifted(Torch& t, const Tensor& logits) { return t.div_scalar(t.slice(logits, 1, 0, logits->sizes[1] - 1)); }

/// torch.nn.functional.kl_div(input, target, reduction="none", log_target=True).
Tensor divergence_of(Torch& t, const Tensor& input, const Tensor& target) {
  const Tensor apart = t.sub(target, input);
  return t.mul(t.exp(target), apart);
}

Tensor mixture_of(Torch& t, const Tensor& student, const Tensor& teacher) {
  Tensor stacked;
  {
    const Tensor part = t.add_scalar(student);
    stacked = stack_last(t, {part, t.add_scalar(teacher)});
  }
  return logsumexp_last(t, stacked);
}

Tensor divergence(Torch& t, Divergence kind, const Tensor& student, const Tensor& teacher) {
  if (kind == Divergence::forward) return divergence_of(t, student, teacher);
  if (kind == Divergence::reverse) return divergence_of(t, teacher, student);
  const Tensor mixture = mixture_of(t, student, teacher);
  const Tensor from_teacher = divergence_of(t, mixture, teacher);
  const Tensor from_student = divergence_of(t, mixture, student);
  const Tensor weighed = t.mul_scalar(from_teacher);
  return t.add(weighed, t.mul_scalar(from_student));
}

/// jsd[mask], whose mask becomes a list of numbers for each dimension.
Tensor of_completions(Torch& t, const Facts& facts, const Tensor& all) {
  const std::int64_t rows = saturating_mul(facts.batch, completion_of(facts));
  const Tensor numbers = t.empty({rows, 2}, DType::int64, "aten::nonzero");
  return t.index_rows(t.view(all, {-1, all->sizes.back()}), numbers);
}

/// generalized_jsd_loss
Tensor loss_of(Stage& stage, const Facts& facts, const Tensor& student_logits, const Tensor& teacher_logits) {
  Torch& t = stage.torch();
  InBucket bucket(t, Bucket::logits_and_loss);
  const Tensor student = shifted(t, student_logits);
  const Tensor teacher = shifted(t, teacher_logits);
  const Tensor student_log_probs = t.log_softmax_last(student);
  const Tensor teacher_log_probs = t.log_softmax_last(teacher);
  Tensor jsd = divergence(t, stage.plan().recipe.divergence.value, student_log_probs, teacher_log_probs);
  jsd = of_completions(t, facts, jsd);
  return t.div_scalar(t.sum_all(jsd));
}

/// compute_loss: leaves the loss in the stream.
void lose(Stage& stage, const Facts& facts, Stream& s) {
  Torch& t = stage.torch();
  const bool evaluates = t.recorder.scope.phase == Phase::evaluation;
  const Stream batch = s;
  Stream teacher = batch;
  stage.call(Role::policy, facts, logits_alone, s);
  {
    Restore no_grad(t.grad_enabled, false);
    Restore in_eval(t.training, false);
    if (!evaluates) stage.begin(Phase::reference);
    stage.call(Role::teacher, Stage::facts_of(Role::teacher, facts), logits_alone, teacher);
  }
  if (!evaluates) stage.begin(Phase::loss);
  s.loss = loss_of(stage, facts, s.logits, teacher.logits);
  t.recorder.empty_cache();
  stage.begin(evaluates ? Phase::evaluation : Phase::loss);
  s.drop_output();
}

void micro_batch(Stage& stage) {
  Restore no_dropout(stage.torch().drops, false);  // disable_dropout
  train_on(stage, stage.facts(), arrive, lose);
}

void evaluate(Stage& stage) { evaluate_on(stage, stage.evaluation_facts(), arrive, lose); }

}  // namespace

extern const Recipe distillation;
const Recipe distillation{"distillation", student_and_teacher, micro_batch, nullptr, evaluate};

}  // namespace oomplan::estimator::recipes
