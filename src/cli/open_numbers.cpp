#include "open_numbers.hpp"

#include <algorithm>
#include <utility>

#include "codes.hpp"
#include "find_architecture.hpp"
#include "parallel.hpp"

namespace oomplan::cli {
namespace {

bool is_among(const Diagnostics& known, const Diagnostic& one) {
  return std::ranges::any_of(
      known, [&](const Diagnostic& other) { return one.message == other.message && one.where == other.where; });
}

Diagnostics reasons_with(UsualNumbers which, const Document& document, const IngestOptions& options,
                         const Catalog& catalog) {
  Findings found{.plan = plan_but_for_numbers(document, options, which)};
  if (!found.plan || !find_architecture(found, catalog)) return std::move(found.diagnostics);
  const Result<TrainingPlan> whole = with_model_defaults(std::move(*found.plan), *found.architecture);
  if (!whole) return whole.errors();
  const Result<Footprint> played = estimate(*whole, *found.architecture, Detail::peaks);
  return played ? Diagnostics() : played.errors();
}

}  // namespace

std::optional<Open> opened(const Document& document, const IngestOptions& options, std::optional<TrainingPlan> plan,
                           const Catalog& catalog) {
  Findings found{.plan = std::move(plan)};
  if (!found.plan || !find_architecture(found, catalog)) return std::nullopt;
  Result<TrainingPlan> whole = with_model_defaults(std::move(*found.plan), *found.architecture);
  if (!whole) return std::nullopt;
  return Open{document, options, std::move(*whole), std::move(*found.architecture)};
}

std::vector<Lengths> lengths_on(const std::vector<Gpu>& gpus, const std::optional<Open>& open, double headroom) {
  if (!open) return {};
  std::vector<std::vector<LengthPoint>> points(gpus.size());
  std::vector<std::optional<Lengths>> found(gpus.size());
  for_each_index(2 * gpus.size(), [&](std::size_t i) {
    const RoomQuestion one = open->on(gpus[i / 2], headroom);
    if (i % 2 == 0) found[i / 2] = lengths_of(one);
    if (i % 2 == 1) points[i / 2] = length_points(one);
  });
  std::vector<Lengths> out;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (!found[i]) return {};
    found[i]->points = std::move(points[i]);
    out.push_back(std::move(*found[i]));
  }
  return out;
}

std::vector<Worlds> worlds_on(const std::vector<Gpu>& gpus, const std::optional<Open>& open, double headroom) {
  std::vector<Worlds> out;
  for (const Gpu& gpu : gpus) {
    std::optional<Worlds> found = open ? worlds_of(open->on(gpu, headroom)) : std::nullopt;
    if (!found) return {};
    out.push_back(std::move(*found));
  }
  return out;
}

Diagnostics reasons_beside(const Document& document, const IngestOptions& options, const Catalog& catalog,
                           const Diagnostics& known) {
  Diagnostics reasons = reasons_with(UsualNumbers::few, document, options, catalog);
  const Diagnostics others = reasons_with(UsualNumbers::many, document, options, catalog);
  std::erase_if(reasons, [&](const Diagnostic& one) {
    const Verdict verdict = verdict_of({one});
    const bool stays = verdict == Verdict::undecided || (verdict == Verdict::invalid && is_among(others, one));
    return !stays || is_among(known, one);
  });
  return reasons;
}

}  // namespace oomplan::cli
