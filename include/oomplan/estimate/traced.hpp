// A run as PyTorch's memory history would have recorded it.
#pragma once

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/plan/plan.hpp"
#include "oomplan/read/snapshot.hpp"

namespace oomplan {

/// What torch.cuda.memory._dump_snapshot would write behind the run on an unlimited card, its history recorded from the
/// beginning; each allocation's frames are its op, in its module, its bucket, and its phase. A cuBLAS handle takes
/// `workspace`. Errors as estimate(), estimate/too-large where the allocator is not played on a card that large, and
/// those of parse_alloc_conf for the plan's settings.
Result<Snapshot> snapshot_of(const TrainingPlan& plan, const Architecture& architecture, Bytes workspace = {});

}  // namespace oomplan
