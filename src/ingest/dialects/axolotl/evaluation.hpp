// The evaluation of an Axolotl config.
#pragma once

#include "../../dialect.hpp"

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
void plan_evaluation(const Inputs& inputs, const Batch& batch, const Stack& stack, Draft& draft);

}  // namespace oomplan::ingestion::axolotl
