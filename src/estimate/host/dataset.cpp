// The rows as the ranks and their workers hold them.
#include <fmt/format.h>

#include "oomplan/core/text.hpp"
#include "sizes.hpp"
#include "terms.hpp"

namespace oomplan::host {
namespace {

std::string_view form_of(RowsAs rows_as) { return rows_as_names.at(static_cast<std::size_t>(rows_as)); }

std::string rows_text(const Question& question, double row) {
  return fmt::format("{} rows × {:.1f} B{} as {}", with_separators(*question.rows.count()), row,
                     question.rows.are_sampled() ? ", the high ends of a sample," : "",
                     form_of(question.plan.loader.rows_as.value));
}

std::string row_source(const Question& question) {
  const PythonCosts& costs = question.costs;
  if (!question.rows.are_objects()) return "the profile's rows";
  return "int: " + costs.integer.source + ". slot: " + costs.slot.source + ". list: " + costs.list.source;
}

void add_page_cache(const Question& question, HostFootprint& out) {
  const auto row = question.rows.stored();
  if (!row || !question.rows.count()) return;
  out.terms.push_back(term("dataset's files", HostPlace::page_cache, times(*question.rows.count(), *row),
                           HostMoment::starting, rows_text(question, *row) + ", once for all ranks",
                           "read through the page cache; what does not fit is read again"));
}

/// Copies that the workers come to have of their parent's rows, or are handed.
void add_copies(const Question& question, Bytes held, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  const std::int64_t workers = all_workers(loader);
  if (workers == 0) return;
  if (are_spawned(loader)) {
    out.terms.push_back(term("workers' datasets", HostPlace::process, workers * held, HostMoment::starting,
                             workers_text(loader) + " × " + to_text(held),
                             "torch 2.13.0: the dataset is an argument of the worker's process, which is pickled"));
  } else if (question.rows.are_objects()) {
    const Bytes copied = *question.rows.copied_by_a_worker();
    out.terms.push_back(term("rows copied on write", HostPlace::process, workers * copied, HostMoment::running,
                             workers_text(loader) + " × " + to_text(copied) + " of pages with rows that a worker sees",
                             "to look at an object writes its reference count, which copies its page"));
  }
}

/// While the last worker reads its dataset, its parent still holds the pickle.
void add_pickle(const Question& question, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  if (!are_spawned(loader) || loader.workers.value == 0) return;
  const double row = *question.rows.pickled();
  const Bytes bytes = loader.ranks.value * times(*question.rows.count(), row);
  HostTerm pickle{"pickled datasets", HostPlace::process, {}, {}, {}};
  pickle.at[static_cast<std::size_t>(HostMoment::starting)] = bytes;
  pickle.formula = fmt::format("{} × {} rows × {:.1f} B", counted(loader.ranks.value, "rank"),
                               with_separators(*question.rows.count()), row);
  pickle.source = "multiprocessing: popen_spawn_posix writes the pickle to a pipe from memory";
  out.terms.push_back(std::move(pickle));
}

}  // namespace

void add_dataset(const Question& question, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  if (loader.rows_as.value == RowsAs::stream) return;
  if (loader.rows_as.value == RowsAs::mapped) return add_page_cache(question, out);
  const auto held = question.rows.held();
  if (!held)
    return out.missing.push_back("the dataset: --loader says how large it is, where it is of all rows or of enough");
  const double row = question.rows.are_objects() ? *question.rows.object() : *question.rows.stored();
  out.terms.push_back(term("dataset", HostPlace::process, loader.ranks.value * *held, HostMoment::starting,
                           counted(loader.ranks.value, "rank") + " × " + rows_text(question, row),
                           row_source(question)));
  add_copies(question, *held, out);
  add_pickle(question, out);
}

}  // namespace oomplan::host
