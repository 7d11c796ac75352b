// What fsdp_config says of the ranks' shards, as accelerate's plugin reads it: in a launcher's file, or in a config.
#pragma once

#include "dialect.hpp"

namespace oomplan::ingestion {

struct AskedFsdp {
  Draft& draft;
  const Document& document;
  Origin origin{};       ///< Of what asks for FSDP.
  const Inputs& inputs;  ///< fsdp_inputs()
  std::int64_t machines = 1;
  TrainingPlan& said;            ///< Where facts go.
  const OwnFsdp* own = nullptr;  ///< Of a config; null: what a launcher is told.
  bool quoted = true;            ///< False of a file that may be no config: no text of it is told.
};

/// Facts of the mesh and of checkpointing; what is not played goes to the draft's plan. Errors, in the draft:
/// ingest/conflict where accelerate or transformers refuses it.
void plan_fsdp(const AskedFsdp& asked);

/// How mixed precision comes to the ops: by FSDP2's policy in place of autocast, by both under FSDP1; and what is
/// trained is raised to fp32 (accelerate/accelerator.py: prepare_model; utils/fsdp_utils.py: fsdp2_prepare_model).
void plan_sharded_precision(TrainingPlan& plan);

/// The replicas of shards that `parallelism_config` asks for, of so many processes.
void plan_replicas(const AskedFsdp& asked, const Inputs& parallelism, std::int64_t processes);

}  // namespace oomplan::ingestion
