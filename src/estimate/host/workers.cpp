// A loader's worker processes before they hold a row.
#include "oomplan/core/text.hpp"
#include "terms.hpp"

namespace oomplan::host {
namespace {

void add_spawned(const Question& question, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  const Bytes each = own(question.libraries);
  out.terms.push_back(term("workers", HostPlace::process, all_workers(loader) * each, HostMoment::starting,
                           workers_text(loader) + " × " + to_text(each) + ", which import what a rank does",
                           "as a rank"));
  const Price& helper = question.costs.helper;
  const std::int64_t helpers = loader.start.value == WorkerStart::spawn ? 1 : 2;
  out.terms.push_back(
      term("multiprocessing's helpers", HostPlace::process, loader.ranks.value * helpers * helper.bytes,
           HostMoment::starting,
           counted(loader.ranks.value, "rank") + " × " + counted(helpers, "process") + " × " + to_text(helper.bytes),
           helper.source));
}

void add_forked(const Question& question, HostFootprint& out) {
  const LoaderPlan& loader = question.plan.loader;
  const RowsAs form = loader.rows_as.value;
  const bool arrays = form == RowsAs::numpy || form == RowsAs::arrow;
  const Price& cost = arrays ? question.costs.forked_worker : question.costs.forked_object_worker;
  out.terms.push_back(term("workers", HostPlace::process, all_workers(loader) * cost.bytes, HostMoment::starting,
                           workers_text(loader) + " × " + to_text(cost.bytes) + ", forked", cost.source));
}

}  // namespace

void add_workers(const Question& question, HostFootprint& out) {
  if (question.plan.loader.workers.value == 0) return;
  if (are_spawned(question.plan.loader)) return add_spawned(question, out);
  add_forked(question, out);
}

}  // namespace oomplan::host
