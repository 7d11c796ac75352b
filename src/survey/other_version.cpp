// other_version_of: the same config under each version of its framework whose defaults are known.
#include "oomplan/survey/other_version.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan {
namespace {

/// A peak that is closer to the other is the same to a reader.
constexpr double worth_a_line = 0.02;

std::optional<TrainingPlan> under(const NamedVersion& version, const VersionQuestion& question) {
  IngestOptions options = question.ingest;
  options.dialect = question.plan.dialect;
  options.versions.insert(options.versions.begin(), version);
  Result<TrainingPlan> plan = ingest(question.document, options);
  if (plan) plan = with_model_defaults(std::move(*plan), question.architecture);
  return plan && plan->unmodelled.empty() ? std::optional(std::move(*plan)) : std::nullopt;
}

double part_of(Bytes difference, Bytes whole) {
  return std::abs(static_cast<double>(difference.count())) / static_cast<double>(whole.count());
}

}  // namespace

std::optional<OtherVersion> other_version_of(const VersionQuestion& question) {
  std::optional<std::pair<NamedVersion, TrainingPlan>> farthest;
  double most = worth_a_line;
  for (const NamedVersion& version : versions_beside(question.plan)) {
    std::optional<TrainingPlan> plan = under(version, question);
    if (!plan) continue;
    const FitCheck check(*plan, question.architecture);
    if (!check.peaks()) continue;
    const double moved = part_of(check.peaks()->peak.tensors() - question.tensors, question.tensors);
    if (moved <= most) continue;
    most = moved;
    farthest.emplace(version, std::move(*plan));
  }
  if (!farthest) return std::nullopt;
  auto& [version, plan] = *farthest;
  FitCheck check(plan, question.architecture);
  OtherVersion out{.package = version.package,
                   .taken = framework_version(question.plan, version.package),
                   .other = version.version,
                   .needed = check.peaks()->peak.tensors()};
  if (question.gpu == nullptr) return out;
  const CheckedFit fit = check.on(*question.gpu, limit_of(*question.gpu, question.headroom));
  if (!fit.errors.empty()) return std::nullopt;
  out.needed = fit.needed;
  out.at_least = fit.at_least;
  out.fits = fit.fits;
  out.on_card = true;
  return out;
}

}  // namespace oomplan
