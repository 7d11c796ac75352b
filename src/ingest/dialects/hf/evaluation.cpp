#include "evaluation.hpp"

#include <algorithm>
#include <array>

#include "../../condition.hpp"
#include "../../evaluation.hpp"
#include "../../versions.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::ingestion::hf {
namespace {

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

// trainer_callback.py: DefaultFlowCallback.on_step_end evaluates at no step before eval_delay, the last one among them.
// TRL's scripts before 1.5 may evaluate once more when they have trained, and so do transformers' examples.
bool ends_before(const EvaluationKeys& keys, const Inputs& inputs, const TrainingPlan& plan) {
  const std::string_view trl = version_behind("trl", plan.framework);
  if (trl.empty() || is_older(trl, "1.5")) return false;
  const auto number = [&](std::string_view key) {
    const Node* value = find_value(inputs, key);
    return value == nullptr ? 0.0 : value->as_number().value_or(0.0);
  };
  const bool by_steps = keys.strategy.value == "steps" && !is(keys.on_start, true);
  return by_steps && number("max_steps") > 0 && number("eval_delay") > number("max_steps");
}

const Origin* when(const EvaluationKeys& keys, bool sft) {
  if (keys.strategy.value && keys.strategy.value != "no") return &keys.strategy.origin;
  if (is(keys.on_start, true)) return &keys.on_start.origin;
  return is(keys.asked, true) && !sft ? &keys.asked.origin : nullptr;
}

}  // namespace

EvaluationKeys evaluation_keys(const Arguments& hf) {
  return {hf.get<std::string>("eval_strategy"),
          hf.get<bool>("eval_on_start"),
          hf.get<bool>("do_eval"),
          hf.get<std::int64_t>("per_device_eval_batch_size"),
          hf.get<std::int64_t>("eval_accumulation_steps"),
          hf.get<bool>("prediction_loss_only"),
          hf.get<bool>("batch_eval_metrics"),
          hf.get<std::vector<std::string>>("include_for_metrics"),
          hf.get<std::string>("metric_for_best_model"),
          hf.get<bool>("load_best_model_at_end"),
          hf.get<bool>("bf16_full_eval"),
          hf.get<bool>("fp16_full_eval"),
          hf.get<std::string>("save_strategy")};
}

void plan_evaluation(const EvaluationKeys& keys, const Inputs& inputs, bool sft, const Rows& rows, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const Origin* asks = ends_before(keys, inputs, plan) ? nullptr : when(keys, sft);
  if (asks == nullptr) {
    plan.evaluation.rows.value = 0;
    return;
  }
  plan.evaluation.evaluates = {true, *asks};
  give(plan.evaluation.rows, keys.rows);
  const bool padded = (plan.evaluation.rows.value > 1 || rows.multiple > 1) && !rows.fixed && !rows.joined;
  plan.evaluation.padded = {padded, assumed(padded ? "rows of a batch of evaluation differ in length and are padded"
                                                   : "rows of a batch of evaluation are as training's")};
  if (rows.joined && (plan.evaluation.rows.value > 1 || rows.length != plan.batch.sequence_length.value)) {
    if (rows.length == 0) {
      plan.unmodelled.push_back({"evaluation of joined rows whose length no key says", "padding_free", asks->where});
    }
    const std::int64_t joined = saturating_mul(rows.length, plan.evaluation.rows.value);
    plan.evaluation.length = {padded_to(joined, rows.multiple), plan.evaluation.rows.origin};
    derive(plan.evaluation.length.origin, "the tokens of these rows, packed into one");
    plan.evaluation.rows.value = 1;
    derive(plan.evaluation.rows.origin, "packed into one");
  }
  note_asking(inputs, {"predict_with_generate"}, "generation in evaluation", draft);
  if (sft) return;
  derive(plan.evaluation.evaluates.origin, "with no compute_metrics that keeps logits assumed");
  note_kept(keys, draft);
}

void plan_saving(const EvaluationKeys& keys, SavingFacts& saving) {
  if (keys.saves.value) saving.saves = {keys.saves.value != "no", keys.saves.origin};
}

}  // namespace oomplan::ingestion::hf
