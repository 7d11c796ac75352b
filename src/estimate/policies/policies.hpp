// The policies, one file each.
#pragma once

#include "policy.hpp"

namespace oomplan {
struct MeshFacts;
}  // namespace oomplan

namespace oomplan::estimator {

std::unique_ptr<Policy> single();
std::unique_ptr<Policy> ddp(const MeshFacts& mesh);
std::unique_ptr<Policy> fsdp2(const MeshFacts& mesh);

}  // namespace oomplan::estimator
