// A footprint against the limits, and the reader's speed against the step's.
#include <algorithm>

#include "oomplan/core/text.hpp"
#include "oomplan/estimate/host.hpp"

namespace oomplan {
namespace {

FitVerdict verdict_of(Bytes needed, Bytes limit, bool is_known) {
  if (needed > limit) return FitVerdict::does_not_fit;
  if (!is_known) return FitVerdict::undecided;
  return needed > Bytes(limit.count() - limit.count() / 20) ? FitVerdict::at_the_edge : FitVerdict::fits;
}

HostFit shared_fit(const HostFootprint& footprint, Bytes limit) {
  const Bytes needed = footprint.shared();
  FitVerdict verdict = verdict_of(needed, limit, footprint.shared_is_known);
  if (verdict == FitVerdict::fits && needed + footprint.in_passing > limit) verdict = FitVerdict::at_the_edge;
  return {"shm", limit, needed, verdict};
}

HostFit cgroup_fit(const HostFootprint& footprint, Bytes limit) {
  const Bytes needed = footprint.unreclaimable();
  FitVerdict verdict = verdict_of(needed, limit, footprint.missing.empty());
  if (verdict == FitVerdict::fits && footprint.ram() > limit) verdict = FitVerdict::at_the_edge;
  return {"cgroup", limit, needed, verdict};
}

/// Of the dataset, by one rank in one optimizer step.
std::optional<double> rows_of_a_step(const TrainingPlan& plan) {
  const LoaderPlan& loader = plan.loader;
  // Of a text its bytes are known, and not the tokens that the sequence is made of.
  const bool tokens_known = loader.row_values.value > 0 && loader.values.value != RowValues::bytes;
  if (loader.packed.value && !tokens_known) return std::nullopt;
  const double joined = loader.packed.value ? static_cast<double>(plan.batch.sequence_length.value) /
                                                  static_cast<double>(loader.row_values.value)
                                            : 1;
  return joined * static_cast<double>(plan.batch.micro_batch_size.value) *
         static_cast<double>(plan.batch.gradient_accumulation_steps.value);
}

/// Why the loader that was timed does not say how fast the plan's is; empty where it does.
std::string why_no_such_loader(const TrainingPlan& plan, const MeasuredLoader& loader) {
  if (plan.loader.packed.value) return "rows are packed, and whether the loader that was timed packs them is not known";
  const std::int64_t workers = plan.loader.workers.value;
  if (loader.workers.value_or(workers) == workers) return {};
  return "the loader was timed with " + counted(*loader.workers, "worker") + " and the config has " +
         with_separators(workers) + ": time it as the config has it";
}

}  // namespace

std::vector<HostFit> fit(const HostFootprint& footprint, const HostLimits& limits) {
  std::vector<HostFit> out;
  const bool known = footprint.missing.empty();
  if (limits.ram) {
    out.push_back({"host_ram", *limits.ram, footprint.ram(), verdict_of(footprint.ram(), *limits.ram, known)});
  }
  if (limits.shared) {
    out.push_back(shared_fit(footprint, *limits.shared));
  }
  if (limits.cgroup) out.push_back(cgroup_fit(footprint, *limits.cgroup));
  return out;
}

Feed feed(const TrainingPlan& plan, const LoaderProfile& profile, std::optional<double> step_seconds) {
  Feed out{profile.rows_per_second, std::nullopt, {}, std::max<std::int64_t>(plan.loader.workers.value, 1)};
  if (profile.loader) out = {.read_per_second = profile.loader->rows_per_second, .is_of_loader = true};
  if (!step_seconds) {
    out.unknown = "how long a step takes is not known: --step-time says it";
  } else if (profile.loader) {
    out.unknown = why_no_such_loader(plan, *profile.loader);
    if (out.unknown.empty()) out.taken_per_second = *rows_of_a_step(plan) / *step_seconds;
  } else if (const auto rows = rows_of_a_step(plan)) {
    out.taken_per_second = *rows / *step_seconds;
  } else {
    out.unknown =
        "rows are packed, and how many tokens they have is not known: loader_row_values says it, with loader_values of "
        "whole numbers";
  }
  return out;
}

}  // namespace oomplan
