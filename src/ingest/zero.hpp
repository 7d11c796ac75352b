// What DeepSpeed's JSON says of the ranks, as transformers' integration and accelerate 1.15.0's plugin hand it on.
#pragma once

#include "dialect.hpp"

namespace oomplan::ingestion {

struct AskedZero {
  Draft& draft;
  const Document& document;  ///< In which DeepSpeed is asked for.
  Origin origin{};           ///< Of what asks for it.
  TrainingPlan& said;        ///< Where facts of the mesh go.
};

/// Facts of the mesh; the optimizer that the JSON names and what is not played go to the draft's plan. Errors, in the
/// draft: ingest/conflict where transformers' Trainer refuses it beside its own arguments, ingest/bad-value.
void plan_zero(const AskedZero& asked, const Document& document, const Node& mapping);

/// The same of accelerate's deepspeed_config that names no file; null where there is none.
void plan_zero_plugin(const AskedZero& asked, const Node* config);

/// In what DeepSpeed's engine holds the model, in place of autocast: accelerate prepares no autocast for its engine.
void plan_zero_precision(Draft& draft, const Document& config);

/// How many GPUs there are has to be said, and train_batch_size agrees with them. Last, when the command line is read.
void check_zero_world(Draft& draft, const Document& config);

/// Evaluation before the second step of stage 3: what it releases, training releases from then on, and nothing else
/// (partitioned_param_coordinator.py: __params_to_release has a cache).
void note_early_evaluation(const Inputs& inputs, Draft& draft);

}  // namespace oomplan::ingestion
