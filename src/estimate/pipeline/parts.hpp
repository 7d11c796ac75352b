// The parts of a model that ranks of a pipeline hold.
#pragma once

#include <cstdint>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/estimate/stages.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::estimator {

/// What a rank holds of a model: all of it, or each of its stages (torch.distributed.pipelining.PipelineStage), the
/// first with the embedding, the last with the last norm and the head. A head that is the embedding elsewhere has a
/// weight of its own there.
std::vector<Architecture> parts_of(const TrainingPlan& plan, const Architecture& architecture, std::int64_t rank);

}  // namespace oomplan::estimator
