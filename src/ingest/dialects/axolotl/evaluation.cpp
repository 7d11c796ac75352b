#include "evaluation.hpp"

#include <algorithm>

#include "../../evaluation.hpp"
#include "../../python_values.hpp"
#include "oomplan/bytes.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

// normalize_config makes of them a part of the run to evaluate after, and drops it where that is not less than all.
bool within_run(const Input& evals, const Inputs& inputs) {
  const Input* given = asking(inputs, {"num_epochs"});
  const double epochs = given == nullptr ? 1.0 : given->value->as_number().value_or(1.0);
  return evals.value->as_number().value_or(0.0) * epochs > 1.0;
}

// _configure_save_and_eval_strategy: rows to evaluate on, and a word about when.
const Input* when(const Inputs& inputs) {
  if (asking(inputs, {"val_set_size", "test_datasets", "do_bench_eval"}) == nullptr) return nullptr;
  const Input* steps = asking(inputs, {"eval_steps", "eval_strategy", "evaluation_strategy"});
  if (steps != nullptr) return steps;
  const Input* evals = asking(inputs, {"evals_per_epoch"});
  return evals != nullptr && within_run(*evals, inputs) ? evals : nullptr;
}

bool is_off(const Inputs& inputs, std::string_view key) {
  const auto found = std::ranges::find(inputs, key, &Input::key);
  return found != inputs.end() && found->value->as_boolean() == false;
}

void plan_unpacked(const Inputs& inputs, const Batch& batch, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  plan.evaluation.padded = {true, assumed("some row of evaluation is shorter than sequence_len and is padded")};
  if (auto rows = count_of(inputs, "eval_batch_size", draft, read_pydantic_positive)) {
    plan.evaluation.rows = *std::move(rows);
  } else if (batch.packed) {
    plan.evaluation.rows = {batch.rows, stack.origin("axolotl", "normalize_config: micro_batch_size")};
  }
  auto length = count_of(inputs, "eval_sequence_len", draft, read_pydantic_positive);
  if (length && asking(inputs, {"test_datasets"}) != nullptr) {
    plan.evaluation.length = *std::move(length);
    plan.evaluation.length.value = Bytes(plan.evaluation.length.value).rounded_up(batch.multiple).count();
  } else if (batch.packed) {
    plan.evaluation.length = {batch.length, stack.origin("axolotl", "sequence_len")};
  }
}

// A row of evaluation that is longer than a bin is a bin of its own (samplers/multipack.py: pack_group).
void check_packed(const Inputs& inputs, const Batch& batch, Draft& draft) {
  const Input* longer = asking(inputs, {"eval_sequence_len"});
  if (longer == nullptr || asking(inputs, {"test_datasets"}) == nullptr) return;
  if (longer->value->as_number().value_or(0.0) <= static_cast<double>(batch.length)) return;
  draft.plan.unmodelled.push_back(
      {"packed evaluation of rows longer than sequence_len", longer->key, origin_of(*longer).where});
}

}  // namespace

void plan_evaluation(const Inputs& inputs, const Batch& batch, const Stack& stack, Draft& draft) {
  TrainingPlan& plan = draft.plan;
  const Input* asks = when(inputs);
  if (asks == nullptr) return;
  plan.evaluation.evaluates = {true, origin_of(*asks)};
  // The sampler that packs takes training's batch, whatever evaluation's is. Rows that val_set_size takes from the
  // training set are at most sequence_len long already (utils/data/sft.py).
  if (!batch.packed || is_off(inputs, "eval_sample_packing")) {
    plan_unpacked(inputs, batch, stack, draft);
  } else {
    check_packed(inputs, batch, draft);
  }
  note_asking(inputs, {"eval_table_size", "do_bench_eval", "do_causal_lm_eval", "generate_samples"},
              "generation or scoring in evaluation", draft);
}

}  // namespace oomplan::ingestion::axolotl
