// What follows of several facts of a loader.
#pragma once

#include "arguments.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan::ingestion {

/// How a Trainer that reads datasets of Hugging Face's holds its rows.
void stream_rows(const Arg<bool>& streaming, LoaderPlan& loader);

/// What follows of facts that `--set` may have changed: a worker for each rank, where a framework's default asks for
/// that; rows as long as the sequence, where they are padded or packed and nothing is said of their length.
void finish_loader(bool worker_a_rank, TrainingPlan& plan);

}  // namespace oomplan::ingestion
