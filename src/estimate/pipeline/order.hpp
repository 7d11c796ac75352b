// What a rank of a pipeline does one after the other (torch 2.13.0, torch/distributed/pipelining/schedules.py).
#pragma once

#include <cstdint>
#include <vector>

#include "oomplan/plan/mesh.hpp"

namespace oomplan::estimator {

/// _Action, but for what is sent and received. Backward is whole, or of inputs and then of weights. unshard and reshard
/// are of stages under FSDP2; reduce ends the micro-batches of a stage.
struct PipelineAction {
  enum class Kind : std::uint8_t { forward, backward, backward_input, backward_weight, unshard, reshard, reduce };
  Kind kind = Kind::forward;
  std::int64_t stage = 0;        ///< Of the model's.
  std::int64_t micro_batch = 0;  ///< None of unshard, reshard and reduce.

  friend bool operator==(const PipelineAction&, const PipelineAction&) = default;
};

/// How a model is cut, and in how many micro-batches a step is.
struct PipelineShape {
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int64_t ranks = 1;
  std::int64_t stages_each = 1;
  std::int64_t micro_batches = 1;

  std::int64_t stages() const { return ranks * stages_each; }
};

PipelineShape pipeline_shape(const MeshFacts& mesh);

/// The stages of a rank, in their order: in turn, or there and back (generate_stage_to_rank_mapping).
std::vector<std::int64_t> stages_of_rank(const PipelineShape& shape, std::int64_t rank);

/// What the rank does in a step. Of a shape that torch takes (pipeline/checks.hpp).
std::vector<PipelineAction> pipeline_order(const PipelineShape& shape, std::int64_t rank);

}  // namespace oomplan::estimator
