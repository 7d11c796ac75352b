// The evaluation of a Hugging Face config.
#pragma once

#include "../../dialect.hpp"

namespace oomplan::ingestion::hf {

/// What is said of evaluation, and of what follows it.
struct EvaluationKeys {
  Arg<std::string> strategy{};  ///< "no", "steps", "epoch".
  Arg<bool> on_start{};
  Arg<bool> asked{};  ///< do_eval
  Arg<std::int64_t> rows{};
  Arg<std::int64_t> accumulation{};
  Arg<bool> loss_only{};
  Arg<bool> metrics_by_batch{};
  Arg<std::vector<std::string>> kept_for_metrics{};
  Arg<std::string> best_metric{};
  Arg<bool> best_at_end{};
  Arg<bool> all_bf16{};
  Arg<bool> all_fp16{};
  Arg<std::string> saves{};  ///< "no", "steps", "epoch", "best".
};

EvaluationKeys evaluation_keys(const Arguments& hf);

/// How rows come to a batch of training; those of evaluation come by the same collator.
struct Rows {
  std::int64_t length = 0;    ///< Of one, before any are packed into one and it is padded.
  std::int64_t multiple = 1;  ///< To which a batch is padded.
  bool joined = false;        ///< The rows of a batch become one.
  bool fixed = false;         ///< All of one length.
};

/// Whether the Trainer writes checkpoints.
void plan_saving(const EvaluationKeys& keys, SavingFacts& saving);

/// Reads when evaluation runs and what its batches are: transformers 5.23.0, Trainer.evaluate; trl 1.16.0,
/// scripts/sft.py, which gives no compute_metrics and a data set only where eval_strategy asks for one.
void plan_evaluation(const EvaluationKeys& keys, const Inputs& inputs, bool sft, const Rows& rows, Draft& draft);

}  // namespace oomplan::ingestion::hf
