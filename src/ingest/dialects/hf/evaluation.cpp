#include "evaluation.hpp"

#include <algorithm>
#include <array>

#include "../../evaluation.hpp"
#include "oomplan/bytes.hpp"

namespace oomplan::ingestion::hf {
namespace {

constexpr std::string_view arguments = "transformers 5.23.0: TrainingArguments";
constexpr std::int64_t default_rows = 8;  // per_device_eval_batch_size

// A metric other than the loss comes from a compute_metrics, which wants predictions.
bool is_other_metric(const Arg<std::string>& metric) {
  return metric.value && !metric.value->empty() && metric.value != "loss" && metric.value != "eval_loss";
}

// Trainer.evaluation_loop: with a compute_metrics every batch's logits stay on the GPU until all are seen, or until
// eval_accumulation_steps batches are. One batch's are there anyway when its forward pass ends.
void note_kept(const EvaluationKeys& keys, Draft& draft) {
  if (is(keys.loss_only, true)) return;
  const auto note = [&](std::string_view feature, std::string_view key, const Origin& origin) {
    draft.plan.unmodelled.push_back({std::string(feature), std::string(key), origin.where});
  };
  constexpr std::string_view keeps = "evaluation that keeps what the model predicts";
  if (keys.accumulation.value > 1) return note(keeps, "eval_accumulation_steps", keys.accumulation.origin);
  if (is(keys.metrics_by_batch, true))
    note("a metric of each batch of evaluation", "batch_eval_metrics", keys.metrics_by_batch.origin);
  if (keys.accumulation.value) return;
  const auto& kept = keys.kept_for_metrics;
  if (kept.value && !kept.value->empty()) note(keeps, "include_for_metrics", kept.origin);
  if (is_other_metric(keys.best_metric)) note(keeps, "metric_for_best_model", keys.best_metric.origin);
}

Setting<bool> evaluates(const EvaluationKeys& keys, bool sft) {
  if (keys.strategy.value && keys.strategy.value != "no") return {true, keys.strategy.origin};
  for (const Arg<bool>* flag : {&keys.on_start, &keys.asked})
    if (is(*flag, true) && (flag != &keys.asked || !sft)) return {true, flag->origin};
  return {false, default_of(arguments)};
}

}  // namespace

void plan_evaluation(const EvaluationKeys& keys, const Inputs& inputs, bool sft, const Rows& rows, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  no_evaluation(plan, arguments);
  plan.evaluation.evaluates = evaluates(keys, sft);
  if (!plan.evaluation.evaluates.value) return;
  plan.evaluation.rows = setting(keys.rows, default_rows, arguments);
  const bool padded = plan.evaluation.rows.value > 1 && !rows.fixed && !rows.joined;
  plan.evaluation.padded = {padded, assumed(padded ? "rows of a batch of evaluation differ in length and are padded"
                                                   : "rows of a batch of evaluation are as training's")};
  if (rows.joined && plan.evaluation.rows.value > 1) {
    plan.evaluation.length = {saturating_mul(rows.length, plan.evaluation.rows.value), plan.evaluation.rows.origin};
    derive(plan.evaluation.length.origin, "the tokens of these rows, packed into one");
    plan.evaluation.rows.value = 1;
    derive(plan.evaluation.rows.origin, "packed into one");
  }
  note_asking(inputs, {"predict_with_generate"}, "generation in evaluation", draft);
  if (sft) return;
  derive(plan.evaluation.evaluates.origin, "with no compute_metrics that keeps logits assumed");
  note_kept(keys, draft);
}

void write_evaluation(const TrainingPlan& plan, EvaluationKeys& keys) {
  if (!plan.evaluation.evaluates.value) return;
  const std::int64_t rows = plan.evaluation.rows.value;
  keys.strategy.value = "steps";
  keys.rows.value = rows > 0 ? rows : plan.batch.micro_batch_size.value;
}

}  // namespace oomplan::ingestion::hf
