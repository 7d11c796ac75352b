// Rows on their way from the dataset to the step.
#include <fmt/format.h>

#include <algorithm>

#include "oomplan/core/text.hpp"
#include "sizes.hpp"
#include "terms.hpp"

namespace oomplan::host {
namespace {

constexpr std::string_view in_flight =
    "torch 2.13.0: _MultiProcessingDataLoaderIter keeps num_workers × prefetch_factor batches asked for, beside the "
    "one "
    "that the step has";

/// One tensor of a batch.
Bytes tensor_of(const Question& question) {
  return times(question.plan.batch.micro_batch_size.value, *question.rows.batched());
}

/// Batches of an epoch, at most `queued`.
std::int64_t at_most(const Question& question, std::int64_t queued) {
  const auto rows = question.rows.count();
  if (!rows) return queued;
  const std::int64_t a_step =
      saturating_mul(question.plan.loader.ranks.value, question.plan.batch.micro_batch_size.value);
  return std::min(queued, divided_up(*rows, a_step));
}

/// Batches between the dataset and the step: those asked for and the one in the step, or without workers that and the
/// one that takes its place.
std::int64_t batches_of(const Question& question) {
  const LoaderPlan& loader = question.plan.loader;
  if (loader.workers.value == 0) return at_most(question, 2);
  return at_most(question, saturating_add(saturating_mul(loader.workers.value, loader.prefetch.value), 1));
}

std::string batches_text(const Question& question, Bytes tensor) {
  const LoaderPlan& loader = question.plan.loader;
  return fmt::format("{} × {} × {} × {}", counted(loader.ranks.value, "rank"), counted(batches_of(question), "batch"),
                     counted(loader.columns.value, "tensor"), to_text(tensor));
}

HostTerm of_all(const Question& question, std::string name, HostPlace place, Bytes tensor, std::string_view source) {
  const LoaderPlan& loader = question.plan.loader;
  const std::int64_t batches = saturating_mul(loader.ranks.value, batches_of(question));
  return term(std::move(name), place, batches * (loader.columns.value * tensor), HostMoment::running,
              batches_text(question, tensor), std::string(source));
}

/// A batch's rows, one tensor each, before they are put together; rows that come as objects stand beside them.
void add_rows_in_hand(const Question& question, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  const RowsAs form = loader.rows_as.value;
  if (form == RowsAs::numpy || form == RowsAs::arrow) return;
  const auto object = form == RowsAs::list ? std::optional(0.0) : question.rows.object();
  const double row = *question.rows.batched() + object.value_or(0);
  const std::int64_t loading = saturating_mul(loader.ranks.value, std::max<std::int64_t>(loader.workers.value, 1));
  const Bytes each = times(question.plan.batch.micro_batch_size.value, row);
  const std::string who = loader.workers.value == 0 ? counted(loader.ranks.value, "rank") : workers_text(loader);
  out.terms.push_back(term("rows being batched", HostPlace::process, loading * each, HostMoment::running,
                           fmt::format("{} × {} rows × {:.1f} B", who, question.plan.batch.micro_batch_size.value, row),
                           "torch 2.13.0: fetch.py makes the list of a batch's rows, then collates it"));
}

}  // namespace

void add_batches(const Question& question, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  if (!question.rows.batched()) {
    out.missing.emplace_back("the batches: --loader says how long the rows are");
    out.shared_is_known = loader.workers.value == 0;
    return;
  }
  add_rows_in_hand(question, out);
  const Bytes tensor = tensor_of(question);
  if (loader.workers.value == 0) {
    out.terms.push_back(of_all(question, "batches", HostPlace::process, tensor,
                               "the one in the step, and the one that takes its place"));
  } else {
    out.terms.push_back(of_all(question, "batches queued", HostPlace::shared,
                               tensor.rounded_up(question.costs.page.bytes.count()), in_flight));
    out.in_passing = saturating_mul(loader.ranks.value, loader.columns.value) * tensor;
  }
  if (loader.pin_memory.value) {
    out.terms.push_back(of_all(question, "pinned copies", HostPlace::pinned, power_of_two(tensor), pinned_source));
  }
}

void add_shuffle_buffer(const Question& question, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  if (loader.rows_as.value != RowsAs::stream || loader.shuffle_buffer.value == 0) return;
  const auto row = question.rows.object();
  if (!row) return out.missing.push_back("the shuffle buffer: --loader says how long the rows are");
  const std::int64_t buffers = saturating_mul(loader.ranks.value, std::max<std::int64_t>(loader.workers.value, 1));
  const std::int64_t rows = std::min(loader.shuffle_buffer.value, question.rows.count().value_or(INT64_MAX));
  out.terms.push_back(
      term("shuffle buffers", HostPlace::process, buffers * times(rows, *row), HostMoment::running,
           fmt::format("{} × {} rows × {:.1f} B", counted(buffers, "stream"), with_separators(rows), *row),
           "datasets 5.2.0: BufferShuffledExamplesIterable, a buffer in each process that reads"));
}

}  // namespace oomplan::host
