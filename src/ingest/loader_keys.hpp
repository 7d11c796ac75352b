// The keys of a DataLoader as transformers' TrainingArguments name them; Axolotl has them from there.
#pragma once

#include <cstdint>
#include <string_view>

#include "rows.hpp"

namespace oomplan::ingestion {

struct LoaderKeys {
  Arg<std::int64_t> workers{};
  Arg<std::int64_t> prefetch{};
  Arg<WorkerStart> start{};
  Arg<bool> pin_memory{};
  Arg<bool> persistent{};
  Arg<std::int64_t> map_processes{};
  Arg<bool> streaming{};
  Arg<std::int64_t> shuffle_buffer{};
};

/// Whose defaults are taken, as a report names them.
struct LoaderSources {
  std::string_view arguments{};
  std::string_view datasets{};
  std::string_view collator{};
};

/// What a Trainer that reads datasets of Hugging Face's makes of the keys.
LoaderPlan loader_plan(const LoaderKeys& keys, const LoaderSources& sources);

/// A DataLoader of the user's own, of torch's defaults.
LoaderPlan plain_loader();

/// What follows of facts that `--set` may have changed: a worker for each rank, where a framework's default asks for
/// that; rows as long as the sequence, where they are padded or packed and nothing is said of their length.
void settle_loader(bool worker_a_rank, TrainingPlan& plan);

/// Back to keys.
void write_loader(const LoaderPlan& plan, LoaderKeys& keys);

}  // namespace oomplan::ingestion
