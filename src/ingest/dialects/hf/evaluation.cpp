#include "evaluation.hpp"

#include <algorithm>
#include <array>

#include "../../evaluation.hpp"
#include "oomplan/bytes.hpp"

namespace oomplan::ingestion::hf {
namespace {

// A metric other than the loss comes from a compute_metrics, which wants predictions.
const Input* other_metric(const Inputs& inputs) {
  constexpr std::array<std::string_view, 2> losses{"loss", "eval_loss"};
  const Input* metric = asking(inputs, {"metric_for_best_model"});
  return metric != nullptr && std::ranges::count(losses, metric->value->text) == 0 ? metric : nullptr;
}

// Trainer.evaluation_loop: with a compute_metrics every batch's logits stay on the GPU until all are seen, or until
// eval_accumulation_steps batches are. One batch's are there anyway when its forward pass ends.
void note_kept(const Inputs& inputs, Draft& draft) {
  if (asking(inputs, {"prediction_loss_only"}) != nullptr) return;
  constexpr std::string_view keeps = "evaluation that keeps what the model predicts";
  const auto steps = count_of(inputs, "eval_accumulation_steps", draft);
  if (steps && steps->value > 1) return note_asking(inputs, {"eval_accumulation_steps"}, keeps, draft);
  note_asking(inputs, {"batch_eval_metrics"}, "a metric of each batch of evaluation", draft);
  if (steps) return;
  note_asking(inputs, {"include_for_metrics"}, keeps, draft);
  if (const Input* metric = other_metric(inputs)) {
    draft.plan.unmodelled.push_back({std::string(keeps), metric->key, origin_of(*metric).where});
  }
}

const Input* when(const Inputs& inputs, bool sft) {
  const Input* asks = asking(inputs, {"eval_strategy", "eval_on_start"});
  return asks == nullptr && !sft ? asking(inputs, {"do_eval"}) : asks;
}

}  // namespace

void plan_evaluation(const Inputs& inputs, bool sft, const Rows& rows, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const auto batch = count_of(inputs, "per_device_eval_batch_size", draft);
  const Input* asks = when(inputs, sft);
  if (asks == nullptr) {
    plan.evaluation.rows.value = 0;
    return;
  }
  plan.evaluation.evaluates = {true, origin_of(*asks)};
  if (batch) plan.evaluation.rows = *batch;
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
  note_kept(inputs, draft);
}

}  // namespace oomplan::ingestion::hf
