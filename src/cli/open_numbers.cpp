#include "open_numbers.hpp"

#include <utility>

#include "find_architecture.hpp"
#include "parallel.hpp"

namespace oomplan::cli {

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

}  // namespace oomplan::cli
