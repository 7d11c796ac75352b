// The terms of a host footprint, by what takes them. Each adds to the footprint, or says that something is missing.
#pragma once

#include <string>
#include <vector>

#include "oomplan/estimate/host.hpp"
#include "rows.hpp"

namespace oomplan::host {

struct Question {
  const TrainingPlan& plan;
  const Rows& rows;
  const std::vector<Library>& libraries;
  const PythonCosts& costs;
  const HostModel* model = nullptr;  ///< Null where the model is not known.
};

/// What every process imports.
void add_imports(const Question& question, HostFootprint& out);
/// The rows as the ranks and their workers hold them.
void add_dataset(const Question& question, HostFootprint& out);
void add_workers(const Question& question, HostFootprint& out);
/// Rows on their way: read, batched, queued, pinned, in a shuffle buffer.
void add_batches(const Question& question, HostFootprint& out);
void add_shuffle_buffer(const Question& question, HostFootprint& out);
void add_map(const Question& question, HostFootprint& out);

/// The model while it is loaded, where it is not on a GPU, and while it is saved.
void add_loading(const Question& question, HostFootprint& out);
void add_offloaded(const Question& question, HostFootprint& out);
void add_saving(const Question& question, HostFootprint& out);

// What they share.

inline bool has(HostMoment since, std::size_t moment) { return moment >= static_cast<std::size_t>(since); }

/// A term that is there from `since` on.
HostTerm term(std::string name, HostPlace place, Bytes bytes, HostMoment since, std::string formula,
              std::string source);

/// A term that is there in those moments alone.
HostTerm passing_term(std::string name, HostPlace place, Bytes bytes, const std::vector<HostMoment>& moments,
                      std::string formula, std::string source);

/// Whether workers begin as interpreters of their own, to which the dataset is pickled.
inline bool are_spawned(const LoaderPlan& loader) { return loader.start.value != WorkerStart::fork; }

/// Workers of all ranks.
inline std::int64_t all_workers(const LoaderPlan& loader) {
  return saturating_mul(loader.ranks.value, loader.workers.value);
}

/// "2 ranks × 4 workers".
std::string workers_text(const LoaderPlan& loader);
/// Anonymous bytes of a process that imports all of them.
Bytes own(const std::vector<Library>& libraries);

}  // namespace oomplan::host
