// How a pipeline cuts a model, and what its stages hand on.
#pragma once

#include <cstdint>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/mesh.hpp"

namespace oomplan {

/// The first layer of each stage, and the end of the last: one number more than there are stages. Of layers that the
/// plan gives each stage, or round(i · layers / stages), halves to the even number.
std::vector<std::int64_t> pipeline_cuts(const MeshFacts& mesh, std::int64_t layers);

/// The width of what stages hand on; 0 where the model has no embedding.
std::int64_t width_of(const Architecture& architecture);

}  // namespace oomplan
