// A config that leaves numbers open: the plan with usual ones in their place.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "oomplan/ingest/ingest.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

constexpr std::array<std::string_view, 3> usual_numbers{"plan.world_size=8", "plan.sequence_length=512",
                                                        "plan.images=0"};

bool is_missing(const Diagnostic& one) { return one.code == "ingest/missing-fact"; }

bool is_other(const Diagnostic& one) {
  return one.severity == Severity::error && !is_missing(one) && one.code != "estimate/unmodelled";
}

std::ptrdiff_t missing_in(const Result<TrainingPlan>& plan) {
  return plan ? 0 : std::ranges::count_if(plan.errors(), is_missing);
}

}  // namespace

std::optional<TrainingPlan> plan_but_for_numbers(const Document& document, const IngestOptions& options) {
  IngestOptions with = options;
  Result<TrainingPlan> best = ingest(document, options);
  if (best) return std::nullopt;
  for (const std::string_view number : usual_numbers) {
    if (best || std::ranges::any_of(best.errors(), is_other)) break;
    with.overrides.emplace_back(number);
    Result<TrainingPlan> plan = ingest(document, with);
    const bool helps = missing_in(plan) < missing_in(best);
    if (!helps) with.overrides.pop_back();
    if (helps) best = std::move(plan);
  }
  return best ? std::optional(*std::move(best)) : std::nullopt;
}

}  // namespace oomplan
