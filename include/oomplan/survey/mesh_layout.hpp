// How ranks may share a model by a mesh: data, tensor and pipeline parallel ranks, and what each of them takes at once.
#pragma once

#include <cstdint>

#include "oomplan/plan/mesh.hpp"

namespace oomplan {

/// What a mesh is but for the batch. The same facts as MeshFacts has.
struct MeshShape {
  std::int64_t tensor = 1;
  bool sequence = false;  ///< sequence_parallel
  bool loss = false;      ///< loss_parallel
  std::int64_t pipeline = 1;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int64_t stages_each = 1;
  Sharding sharding = Sharding::none;
  bool kept = false;          ///< FSDP2's reshard_after_forward is false.
  std::int64_t replicas = 1;  ///< HSDP's groups of ranks that hold the same shards.
  std::int64_t data = 1;      ///< Ranks that hold the same layers and the same part of each matrix.

  /// Ranks over which FSDP2 cuts.
  std::int64_t shards() const { return sharding == Sharding::fsdp2 ? data / replicas : 1; }
  std::int64_t stages() const { return pipeline * stages_each; }
  friend bool operator==(const MeshShape&, const MeshShape&) = default;
};

struct MeshLayout {
  MeshShape shape{};
  bool checkpointing = false;
  std::int64_t micro_batch = 1;    ///< Rows.
  std::int64_t micro_batches = 1;  ///< Of a data rank before a step: accumulated, or handed to the pipeline at once.

  std::int64_t rows() const { return micro_batch * micro_batches * shape.data; }
  friend bool operator==(const MeshLayout&, const MeshLayout&) = default;
};

}  // namespace oomplan
