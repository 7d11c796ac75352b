#include "dialect.hpp"
#include "steps.hpp"

namespace oomplan::ingestion {
namespace {

template <class T>
bool is_said(const Setting<T>& fact) {
  return fact.origin.kind == Origin::Kind::config || fact.origin.kind == Origin::Kind::command_line;
}

/// A world of the ranks on this machine.
void spread(MeshFacts& mesh, const LoaderPlan& loader) {
  if (is_said(mesh.world_size)) return;
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
  if (!is_said(mesh.sharding) && mesh.world_size.value > 1) mesh.sharding.value = Sharding::ddp;
  // transformers' Trainer asks DDP for it, unless it checkpoints a model of its own; peft's is none.
  const bool own = plan.adapter.kind.value == Adapter::none;
  const bool asked = mesh.sharding.value == Sharding::ddp && !(own && plan.checkpointing.on.value);
  if (!is_said(mesh.ddp_find_unused) && !asked) mesh.ddp_find_unused.value = false;
}

}  // namespace oomplan::ingestion
