// The evaluation of an Axolotl config.
#pragma once

#include "../../dialect.hpp"
#include "keys.hpp"

namespace oomplan::ingestion::axolotl {

/// The batch of training before any rows are packed into one.
struct Batch {
  std::int64_t rows = 1;
  std::int64_t length = 1;    ///< Of a row, padded up.
  std::int64_t multiple = 1;  ///< What rows are padded up to.
  bool packed = false;
};

/// Reads when evaluation runs and what its batches are (axolotl 0.18.0: utils/config/__init__.py, core/builders,
/// core/trainers/base.py).
void plan_evaluation(const EvaluationKeys& keys, const Batch& batch, TrainingPlan& plan);

/// The plan's evaluation in these keys, as lines of YAML; empty where it has none.
std::string write_evaluation(const TrainingPlan& plan);

}  // namespace oomplan::ingestion::axolotl
