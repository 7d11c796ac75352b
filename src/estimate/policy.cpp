#include "policy.hpp"

#include "oomplan/plan/plan.hpp"
#include "policies/policies.hpp"

namespace oomplan::estimator {

std::unique_ptr<Policy> make_policy(const TrainingPlan& plan, bool trained) {
  if (!trained) return single();
  switch (plan.mesh.sharding.value) {
    case Sharding::none:
      return single();
    case Sharding::ddp:
      return ddp(plan.mesh);
    case Sharding::fsdp2:
      return fsdp2(plan.mesh);
  }
  return single();
}

}  // namespace oomplan::estimator
