#include "policy.hpp"

#include "oomplan/plan/plan.hpp"
#include "optimizer.hpp"
#include "policies/policies.hpp"

namespace oomplan::estimator {
namespace {

/// A fused step of DTensors is given gradients as their parameters are placed: of one that each rank has whole, its
/// part.
std::vector<Tensor> own_parts(Torch& t, const OptimizerFacts& facts, const Parameters& parameters) {
  std::vector<Tensor> out;
  if (facts.name.value != "adamw_fused") return out;
  for (const Parameter& p : parameters) {
    if (p.held->grad && p.held->subclass && t.is_part(p.held->grad)) out.push_back(t.clone(p.held->grad));
  }
  return out;
}

}  // namespace

void Policy::step(Torch& t, Optimizer& optimizer, const OptimizerFacts& facts, const Parameters& parameters) {
  if (facts.clip_gradients.value) clip_gradients(t, parameters);
  const std::vector<Tensor> parts = own_parts(t, facts, parameters);
  optimizer.step(t, parameters);
}

std::unique_ptr<Policy> make_policy(const TrainingPlan& plan, bool trained) {
  return trained ? policy_of_shard(plan, 0) : reference_policy(plan, 0);
}

std::unique_ptr<Policy> reference_policy(const TrainingPlan& plan, std::int64_t shard) {
  // torchtune shards a reference as it does its policy (recipes/full_dpo_distributed.py: _setup_reference_model).
  if (plan.recipe.kind.value == RecipeKind::raised_pairs) return policy_of_shard(plan, shard);
  if (plan.mesh.sharding.value == Sharding::fsdp1) return fsdp1(plan.mesh, false);
  if (plan.mesh.sharding.value == Sharding::zero3) return zero3(plan, false);
  return plan.mesh.sharding.value == Sharding::fsdp2 ? fsdp2_as_one(plan.mesh, shard) : single();
}

std::unique_ptr<Policy> policy_of_shard(const TrainingPlan& plan, std::int64_t shard) {
  switch (plan.mesh.sharding.value) {
    case Sharding::none:
      return single();
    case Sharding::ddp:
      return ddp(plan.mesh);
    case Sharding::fsdp2:
      return fsdp2(plan.mesh, shard);
    case Sharding::fsdp1:
      return fsdp1(plan.mesh, true);
    case Sharding::zero1:
    case Sharding::zero2:
      return zero12(plan, shard);
    case Sharding::zero3:
      return zero3(plan, true);
  }
  return single();
}

}  // namespace oomplan::estimator
