#include "evaluation.hpp"

#include "../../evaluation.hpp"
#include "oomplan/core/bytes.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

bool some(const Arg<double>& arg) { return arg.value.value_or(0.0) != 0.0; }

// normalize_config makes of them a part of the run to evaluate after, and drops it where that is not less than all.
bool within_run(const EvaluationKeys& keys) {
  return static_cast<double>(keys.times.value.value_or(0)) * keys.epochs.value.value_or(1.0) > 1.0;
}

// _configure_save_and_eval_strategy: rows to evaluate on, and a word about when.
const Origin* when(const EvaluationKeys& keys) {
  if (!some(keys.share) && !is(keys.own_rows, true) && !is(keys.benchmark, true)) return nullptr;
  if (some(keys.every)) return &keys.every.origin;
  if (keys.strategy.value.value_or("no") != "no") return &keys.strategy.origin;
  return within_run(keys) ? &keys.times.origin : nullptr;
}

void plan_unpacked(const EvaluationKeys& keys, const Batch& batch, const Stack& stack, TrainingPlan& plan) {
  plan.evaluation.padded = {true, assumed("some row of evaluation is shorter than sequence_len and is padded")};
  if (keys.rows.value) {
    plan.evaluation.rows = {*keys.rows.value, keys.rows.origin};
  } else if (batch.packed) {
    plan.evaluation.rows = {batch.rows, stack.origin("axolotl", "normalize_config: micro_batch_size")};
  }
  if (keys.length.value && is(keys.own_rows, true)) {
    plan.evaluation.length = {Bytes(*keys.length.value).rounded_up(batch.multiple).count(), keys.length.origin};
  } else if (batch.packed) {
    plan.evaluation.length = {batch.length, stack.origin("axolotl", "sequence_len")};
  }
}

void note(std::string_view feature, std::string_view key, const Origin& origin, TrainingPlan& plan) {
  plan.unmodelled.push_back({std::string(feature), std::string(key), origin.where});
}

// A row of evaluation that is longer than a bin is a bin of its own (samplers/multipack.py: pack_group).
void check_packed(const EvaluationKeys& keys, const Batch& batch, TrainingPlan& plan) {
  if (!is(keys.own_rows, true) || keys.length.value.value_or(0) <= batch.length) return;
  note("packed evaluation of rows longer than sequence_len", "eval_sequence_len", keys.length.origin, plan);
}

void note_scoring(const EvaluationKeys& keys, TrainingPlan& plan) {
  constexpr std::string_view scoring = "generation or scoring in evaluation";
  if (keys.table_size.value.value_or(0) > 0) return note(scoring, "eval_table_size", keys.table_size.origin, plan);
  if (is(keys.benchmark, true)) return note(scoring, "do_bench_eval", keys.benchmark.origin, plan);
  if (is(keys.metrics, true)) return note(scoring, "do_causal_lm_eval", keys.metrics.origin, plan);
  if (is(keys.generates, true)) note(scoring, "generate_samples", keys.generates.origin, plan);
}

}  // namespace

EvaluationKeys evaluation_keys(const Arguments& a) {
  return {a.get<double>("val_set_size"),
          a.get<bool>("test_datasets"),
          a.get<bool>("do_bench_eval"),
          a.get<double>("eval_steps"),
          a.get<std::int64_t>("evals_per_epoch"),
          a.get<std::string>("eval_strategy"),
          a.get<double>("num_epochs"),
          a.get<std::int64_t>("eval_batch_size"),
          a.get<std::int64_t>("eval_sequence_len"),
          a.get<bool>("eval_sample_packing"),
          a.get<std::int64_t>("eval_table_size"),
          a.get<bool>("do_causal_lm_eval"),
          a.get<bool>("generate_samples")};
}

void plan_evaluation(const EvaluationKeys& keys, const Batch& batch, const Stack& stack, TrainingPlan& plan) {
  const Origin* asks = when(keys);
  if (asks == nullptr) return;
  plan.evaluation.evaluates = {true, *asks};
  // The sampler that packs takes training's batch, whatever evaluation's is. Rows that val_set_size takes from the
  // training set are at most sequence_len long already (utils/data/sft.py).
  if (!batch.packed || is(keys.packed, false)) {
    plan_unpacked(keys, batch, stack, plan);
  } else {
    check_packed(keys, batch, plan);
  }
  note_scoring(keys, plan);
}

}  // namespace oomplan::ingestion::axolotl
