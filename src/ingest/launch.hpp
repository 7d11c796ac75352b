// What says how a run is started, beside its config: accelerate's launcher config and DeepSpeed's JSON.
#pragma once

#include <deque>

#include "dialect.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::ingestion {

/// Reads each file of `options.launch` as accelerate 1.15.0 does. Facts of the mesh, the ranks of a machine and, where
/// the trainer asks for none itself, mixed precision go to the draft with their place in that file; what is not played
/// goes to plan.unmodelled. The documents go to `documents`, whose elements never move. Errors, in the draft: the
/// loader's own, ingest/not-a-mapping, ingest/unknown-dialect for a file that is neither, ingest/refused,
/// ingest/bad-value, ingest/conflict where the config says another world.
void apply_launch(const IngestOptions& options, const Dialect& dialect, const Document& config,
                  std::deque<Document>& documents, Draft& draft);

}  // namespace oomplan::ingestion
