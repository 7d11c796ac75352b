#include "loader_keys.hpp"

#include <string>

#include "dialect.hpp"

namespace oomplan::ingestion {
namespace {

constexpr std::string_view data_loader = "torch 2.13.0: DataLoader";
constexpr std::string_view linux_python = "Python before 3.14: multiprocessing on Linux";

// What no key of a config says.
LoaderPlan unsaid() {
  LoaderPlan plan;
  plan.ranks = {1, assumed("one GPU, one process")};
  plan.epochs = {1, assumed("nothing looks at a row twice")};
  plan.values = {RowValues::int64, assumed("rows are token ids")};
  plan.row_values = {0, assumed("as many as the profile's bytes hold")};
  return plan;
}

}  // namespace

LoaderPlan loader_plan(const LoaderKeys& keys, const LoaderSources& sources) {
  LoaderPlan plan = unsaid();
  plan.workers = setting(keys.workers, std::int64_t{0}, sources.arguments);
  plan.prefetch = setting(keys.prefetch, std::int64_t{2}, data_loader);
  plan.start = setting(keys.start, WorkerStart::fork, linux_python);
  plan.pin_memory = setting(keys.pin_memory, true, sources.arguments);
  plan.persistent = setting(keys.persistent, false, sources.arguments);
  plan.shuffle = {true, default_of(sources.arguments)};
  const bool streams = keys.streaming.value.value_or(false);
  plan.rows_as = {streams ? RowsAs::stream : RowsAs::mapped,
                  keys.streaming.value ? keys.streaming.origin : default_of(sources.datasets)};
  plan.padded = {true, assumed("the longest batch is as long as sequence_length")};
  plan.packed = {false, default_of(sources.collator)};
  plan.columns = {3, default_of(sources.collator)};
  plan.shuffle_buffer = setting(keys.shuffle_buffer, std::int64_t{0}, sources.datasets);
  plan.map_processes = setting(keys.map_processes, std::int64_t{0}, sources.datasets);
  plan.map_a_core = {false, default_of(sources.datasets)};
  plan.libraries = {{"torch", "transformers", "datasets", "cuda"}, assumed("what a Trainer on a GPU imports")};
  return plan;
}

void settle_loader(bool worker_a_rank, TrainingPlan& plan) {
  LoaderPlan& loader = plan.loader;
  if (worker_a_rank && loader.workers.origin.kind == Origin::Kind::framework_default) {
    loader.workers.value = loader.ranks.value;
  }
  if (loader.padded.value || loader.padded.origin.kind != Origin::Kind::assumed) return;
  const auto pad = [&](const Setting<bool>& fact, std::string_view how) {
    loader.padded = {true, fact.origin};
    derive(loader.padded.origin, how);
  };
  if (plan.batch.padding_mask.value)
    return pad(plan.batch.padding_mask, "whose rows are padded, to sequence_length at most");
  if (loader.packed.value) pad(loader.packed, "whose rows fill sequence_length");
}

LoaderPlan plain_loader() {
  LoaderPlan plan = unsaid();
  plan.workers = {0, default_of(data_loader)};
  plan.prefetch = {2, default_of(data_loader)};
  plan.start = {WorkerStart::fork, default_of(linux_python)};
  plan.pin_memory = {false, default_of(data_loader)};
  plan.persistent = {false, default_of(data_loader)};
  plan.shuffle = {true, assumed("rows come in random order")};
  plan.rows_as = {RowsAs::numpy, assumed("rows are held in one array")};
  plan.padded = {false, assumed("rows are batched as they are")};
  plan.packed = {false, assumed("rows are batched as they are")};
  plan.columns = {1, assumed("a batch is one tensor")};
  plan.shuffle_buffer = {0, assumed("nothing is streamed")};
  plan.map_processes = {0, assumed("no map() before training")};
  plan.map_a_core = {false, assumed("no map() before training")};
  plan.libraries = {{"torch", "cuda"}, assumed("a training process on a GPU")};
  return plan;
}

void write_loader(const LoaderPlan& plan, LoaderKeys& keys) {
  keys.workers.value = plan.workers.value;
  if (plan.workers.value > 0) keys.prefetch.value = plan.prefetch.value;
  keys.start.value = plan.start.value;
  keys.pin_memory.value = plan.pin_memory.value;
  keys.persistent.value = plan.persistent.value;
  if (plan.map_processes.value > 0) keys.map_processes.value = plan.map_processes.value;
  if (plan.rows_as.value == RowsAs::stream) keys.streaming.value = true;
  if (plan.shuffle_buffer.value > 0) keys.shuffle_buffer.value = plan.shuffle_buffer.value;
}

}  // namespace oomplan::ingestion
