#include "dialect.hpp"
#include "steps.hpp"

namespace oomplan::ingestion {
namespace {

/// A world of the ranks on this machine.
void spread(MeshFacts& mesh, const LoaderPlan& loader) {
  if (mesh.world_size.origin.is_said()) return;
  mesh.world_size = loader.ranks;
  if (loader.ranks.origin.kind != Origin::Kind::assumed) {
    derive(mesh.world_size.origin, "as one machine has them");
  }
}

}  // namespace

void finish_mesh(TrainingPlan& plan) {
  MeshFacts& mesh = plan.mesh;
  spread(mesh, plan.loader);
  // accelerate gives a model of several processes to DDP.
  if (!mesh.sharding.origin.is_said() && data_ranks(mesh) > 1) mesh.sharding.value = Sharding::ddp;
  // transformers' Trainer asks DDP for it, unless it checkpoints a model of its own; peft's is none.
  const bool own = plan.adapter.kind.value == Adapter::none;
  const bool asked = mesh.sharding.value == Sharding::ddp && !(own && plan.checkpointing.on.value);
  if (!mesh.ddp_find_unused.origin.is_said() && !asked) mesh.ddp_find_unused.value = false;
}

}  // namespace oomplan::ingestion
