// The parts of a model that ranks of a pipeline hold.
#pragma once

#include <cstdint>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// The first layer of each stage, and the end of the last: one number more than there are stages. Of layers that the
/// plan gives each stage, or round(i · layers / stages), halves to the even number.
std::vector<std::int64_t> pipeline_cuts(const MeshFacts& mesh, std::int64_t layers);

/// What a rank holds of a model: all of it, or each of its stages (torch.distributed.pipelining.PipelineStage), the
/// first with the embedding, the last with the last norm and the head. A head that is the embedding elsewhere has a
/// weight of its own there.
std::vector<Architecture> parts_of(const TrainingPlan& plan, const Architecture& architecture, std::int64_t rank);

/// The width of what stages hand on; 0 where the model has no embedding.
std::int64_t width_of(const Architecture& architecture);

}  // namespace oomplan::estimator
