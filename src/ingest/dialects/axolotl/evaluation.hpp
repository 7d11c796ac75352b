// The evaluation of an Axolotl config.
#pragma once

#include "../../dialect.hpp"

namespace oomplan::ingestion::axolotl {

/// What is said of evaluation.
struct EvaluationKeys {
  Arg<double> share{};        ///< val_set_size
  Arg<bool> own_rows{};       ///< test_datasets
  Arg<bool> benchmark{};      ///< do_bench_eval
  Arg<double> every{};        ///< eval_steps
  Arg<std::int64_t> times{};  ///< evals_per_epoch
  Arg<std::string> strategy{};
  Arg<double> epochs{};
  Arg<std::int64_t> rows{};
  Arg<std::int64_t> length{};
  Arg<bool> packed{};
  Arg<std::int64_t> table_size{};
  Arg<bool> metrics{};    ///< do_causal_lm_eval
  Arg<bool> generates{};  ///< generate_samples
};

EvaluationKeys evaluation_keys(const Arguments& a);

/// The batch of training before any rows are packed into one.
struct Batch {
  std::int64_t rows = 1;
  std::int64_t length = 1;    ///< Of a row, padded up.
  std::int64_t multiple = 1;  ///< What rows are padded up to.
  bool packed = false;
};

/// Reads when evaluation runs and what its batches are (axolotl 0.18.0: utils/config/__init__.py, core/builders,
/// core/trainers/base.py).
void plan_evaluation(const EvaluationKeys& keys, const Batch& batch, const Stack& stack, TrainingPlan& plan);

}  // namespace oomplan::ingestion::axolotl
