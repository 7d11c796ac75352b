// A config that leaves numbers open: the plan with usual ones in their place.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "oomplan/ingest/ingest.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

using Numbers = std::array<std::string_view, 3>;
constexpr Numbers few{"plan.world_size=2", "plan.sequence_length=512", "plan.images=0"};
constexpr Numbers many{"plan.world_size=8", "plan.sequence_length=4096", "plan.images=1"};

bool is_missing(const Diagnostic& one) { return one.code == "ingest/missing-fact"; }

bool is_other(const Diagnostic& one) {
  return one.severity == Severity::error && !is_missing(one) && one.code != "estimate/unmodelled";
}

std::ptrdiff_t missing_in(const Result<TrainingPlan>& plan) {
  return plan ? 0 : std::ranges::count_if(plan.errors(), is_missing);
}

}  // namespace

std::optional<TrainingPlan> plan_but_for_numbers(const Document& document, const IngestOptions& options,
                                                 UsualNumbers which) {
  IngestOptions with = options;
  Result<TrainingPlan> best = ingest(document, options);
  if (best) return std::nullopt;
  for (const std::string_view number : which == UsualNumbers::few ? few : many) {
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
