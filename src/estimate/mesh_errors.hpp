// What the checks of a mesh have in common.
#pragma once

#include <string>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

Diagnostic mesh_error(std::string code, std::string message, const Origin& origin);

/// estimate/unmodelled: under the sharding that the mesh has.
Diagnostic unmodelled_under(const std::string& what, const MeshFacts& mesh, const Origin& origin);

/// Every module that has weights calls the policy.
bool has_leaves_alone(const Architecture& architecture);

}  // namespace oomplan::estimator
