#include "policy.hpp"

#include "oomplan/plan/plan.hpp"
#include "policies/policies.hpp"

namespace oomplan::estimator {

std::unique_ptr<Policy> make_policy(const TrainingPlan& plan, bool trained) {
  return trained ? policy_of_shard(plan, 0) : single();
}

std::unique_ptr<Policy> policy_of_shard(const TrainingPlan& plan, std::int64_t shard) {
  switch (plan.mesh.sharding.value) {
    case Sharding::none:
      return single();
    case Sharding::ddp:
      return ddp(plan.mesh);
    case Sharding::fsdp2:
      return fsdp2(plan.mesh, shard);
  }
  return single();
}

}  // namespace oomplan::estimator
