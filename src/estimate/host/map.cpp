// map() over the dataset before training.
#include <fmt/format.h>

#include <algorithm>

#include "oomplan/core/text.hpp"
#include "sizes.hpp"
#include "terms.hpp"

namespace oomplan::host {
namespace {

/// datasets 5.2.0: Dataset.map(batch_size=1000), config.DEFAULT_MAX_BATCH_SIZE.
constexpr std::int64_t rows_of_a_piece = 1000;

/// A row as it comes and as token ids, which are cut to the sequence only later.
double row_bytes(const Question& question) {
  const double sequence = static_cast<double>(question.plan.batch.sequence_length.value);
  const double tokens = std::max(sequence, question.rows.values().value_or(0));
  const double ids = tokens * (number(question.costs.integer) + number(question.costs.slot));
  return question.rows.stored().value_or(0) + ids;
}

}  // namespace

void add_map(const Question& question, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  const std::int64_t processes = loader.map_processes.value;
  if (loader.rows_as.value == RowsAs::stream) return;
  if (processes < 1) {
    if (!loader.map_a_core.value) return;
    return out.missing.push_back("how many processes map() has, one a core: --set loader_map_processes=… says it");
  }
  // The garbage collector writes to every object of a process's heap, which copies the pages that a fork shares.
  const Bytes each = own(question.libraries) + times(rows_of_a_piece, row_bytes(question));
  out.terms.push_back(passing_term(
      "map() processes", HostPlace::process, processes * each, {HostMoment::preparing},
      fmt::format("{} × {}: all that it shares with its parent, and {} rows of sequence_length tokens, or the mean "
                  "row where that is longer",
                  counted(processes, "process"), to_text(each), with_separators(rows_of_a_piece)),
      "datasets 5.2.0 forks num_proc processes, of 1 too, which come to copy what they share"));
}

}  // namespace oomplan::host
