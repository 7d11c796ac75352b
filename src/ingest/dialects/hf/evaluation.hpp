// The evaluation of a Hugging Face config.
#pragma once

#include "../../dialect.hpp"

namespace oomplan::ingestion::hf {

/// How rows come to a batch of training; those of evaluation come by the same collator.
struct Rows {
  std::int64_t length = 0;  ///< Of one, before any are packed into one.
  bool joined = false;      ///< The rows of a batch become one.
  bool fixed = false;       ///< All of one length.
};

/// Reads when evaluation runs and what its batches are: transformers 5.23.0, Trainer.evaluate; trl 1.16.0,
/// scripts/sft.py, which gives no compute_metrics and a data set only where eval_strategy asks for one.
void plan_evaluation(const Inputs& inputs, bool sft, const Rows& rows, Draft& draft);

}  // namespace oomplan::ingestion::hf
