// The policies, one file each.
#pragma once

#include "policy.hpp"

namespace oomplan {
struct MeshFacts;
}  // namespace oomplan

namespace oomplan::estimator {

std::unique_ptr<Policy> single();
std::unique_ptr<Policy> ddp(const MeshFacts& mesh);
/// `shard`: of the parameters' chunks those that the rank holds.
std::unique_ptr<Policy> fsdp2(const MeshFacts& mesh, std::int64_t shard);

/// A model that is only asked: all of it is one unit.
std::unique_ptr<Policy> fsdp2_as_one(const MeshFacts& mesh, std::int64_t shard);
/// `trained`: what is only asked is not raised to fp32.
std::unique_ptr<Policy> fsdp1(const MeshFacts& mesh, bool trained);
/// DeepSpeed's ZeRO, stages 1 and 2; `rank`: of the data parallel ones.
std::unique_ptr<Policy> zero12(const TrainingPlan& plan, std::int64_t rank);
/// Stage 3, whose ranks hold parts of one size. `trained`: what is only asked has no optimizer.
std::unique_ptr<Policy> zero3(const TrainingPlan& plan, bool trained);

/// make_policy() of a model that is trained, on the ranks that hold `shard`.
std::unique_ptr<Policy> policy_of_shard(const TrainingPlan& plan, std::int64_t shard);
/// That of a model that is only asked.
std::unique_ptr<Policy> reference_policy(const TrainingPlan& plan, std::int64_t shard);

}  // namespace oomplan::estimator
