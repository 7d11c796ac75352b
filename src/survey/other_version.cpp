// other_version_of: the same config under each version of its framework whose defaults are known.
#include "oomplan/survey/other_version.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
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

/// How far the version moves the peak, as a part of it.
double moved_by(const FitCheck& check, Bytes tensors) {
  const Bytes difference = check.peaks()->peak.tensors() - tensors;
  return std::abs(static_cast<double>(difference.count())) / static_cast<double>(tensors.count());
}

/// The check refers to the plan, so that neither moves.
struct Candidate {
  NamedVersion version;
  TrainingPlan plan;
  FitCheck check;
  Candidate(NamedVersion named, TrainingPlan read, const Architecture& architecture)
      : version(std::move(named)), plan(std::move(read)), check(plan, architecture) {}
};

std::unique_ptr<Candidate> farthest_of(const VersionQuestion& question) {
  std::unique_ptr<Candidate> out;
  double most = worth_a_line;
  for (const NamedVersion& version : versions_beside(question.plan)) {
    const auto named = [&](const NamedVersion& one) { return one.package == version.package; };
    if (std::ranges::any_of(question.ingest.versions, named)) return nullptr;
    std::optional<TrainingPlan> plan = under(version, question);
    if (!plan) continue;
    auto candidate = std::make_unique<Candidate>(version, std::move(*plan), question.architecture);
    if (!candidate->check.peaks()) continue;
    const double moved = moved_by(candidate->check, question.tensors);
    if (moved <= most) continue;
    most = moved;
    out = std::move(candidate);
  }
  return out;
}

}  // namespace

std::optional<OtherVersion> other_version_of(const VersionQuestion& question) {
  const std::unique_ptr<Candidate> farthest = farthest_of(question);
  if (farthest == nullptr) return std::nullopt;
  OtherVersion out{.package = farthest->version.package,
                   .taken = framework_version(question.plan, farthest->version.package),
                   .other = farthest->version.version,
                   .needed = farthest->check.peaks()->peak.tensors()};
  if (question.gpu == nullptr) return out;
  const CheckedFit fit = farthest->check.on(*question.gpu, limit_of(*question.gpu, question.headroom));
  if (!fit.errors.empty()) return std::nullopt;
  out.needed = fit.needed;
  out.at_least = fit.at_least;
  out.fits = fit.fits;
  out.on_card = true;
  return out;
}

}  // namespace oomplan
