#include "mesh.hpp"

#include "dialect.hpp"

namespace oomplan::ingestion {
namespace {

constexpr std::string_view ddp = "torch 2.13.0: DistributedDataParallel";
constexpr std::string_view fsdp = "torch 2.13.0: fully_shard";
constexpr std::string_view mixed = "torch 2.13.0: MixedPrecisionPolicy";

template <class T>
void fill(Setting<T>& fact, Setting<T> otherwise) {
  if (fact.origin.source.empty()) fact = std::move(otherwise);
}

/// A world of the ranks on this machine, which accelerate gives to DDP.
void settle_world(MeshFacts& mesh, const LoaderPlan& loader) {
  const bool said = mesh.world_size.origin.source.empty() && loader.ranks.origin.kind != Origin::Kind::assumed;
  fill(mesh.world_size, loader.ranks);
  if (said) derive(mesh.world_size.origin, "as one machine has them");
  const bool many = mesh.world_size.value > 1;
  fill(mesh.sharding,
       {many ? Sharding::ddp : Sharding::none, default_of("accelerate 1.15.0: Accelerator.prepare_model")});
}

}  // namespace

void settle_mesh(TrainingPlan& plan) {
  MeshFacts& mesh = plan.mesh;
  settle_world(mesh, plan.loader);
  fill(mesh.sync_each, {false, default_of("accelerate 1.15.0: Accelerator.accumulate")});
  fill(mesh.ddp_bucket_mib, {25, default_of(ddp)});
  fill(mesh.ddp_bucket_views, {false, default_of(ddp)});
  const bool plain = plan.dialect == "oomplan";
  const bool in_ddp = mesh.sharding.value == Sharding::ddp;
  fill(mesh.ddp_find_unused, {in_ddp && !plain && !plan.checkpointing.on.value,
                              default_of(plain ? ddp : "transformers 5.23.0: Trainer.create_accelerator")});
  fill(mesh.fsdp_replicas, {1, default_of(fsdp)});
  fill(mesh.fsdp_reshard, {Reshard::automatic, default_of(fsdp)});
  fill(mesh.fsdp_reshard_ranks, {1, default_of(fsdp)});
  fill(mesh.fsdp_reshard_unreduced, {true, default_of(fsdp)});
  fill(mesh.fsdp_param_dtype, {MixedDType::as_held, default_of(mixed)});
  fill(mesh.fsdp_reduce_dtype, {MixedDType::as_held, default_of(mixed)});
}

}  // namespace oomplan::ingestion
