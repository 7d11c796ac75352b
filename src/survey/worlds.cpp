// A run that shares its model among GPUs whose number nobody says: what a few numbers need of each.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "largest.hpp"
#include "oomplan/estimate/fit_check.hpp"

namespace oomplan {
namespace {

constexpr std::string_view world_key = "plan.world_size";
constexpr std::array<std::int64_t, 3> usual_worlds{2, 4, 8};  ///< Of one machine.

}  // namespace

std::optional<TrainingPlan> plan_but_for_world(const Document& document, const IngestOptions& options) {
  return survey::plan_but_for(document, options, world_key, usual_worlds.front());
}

std::optional<Worlds> worlds_of(const RoomQuestion& question) {
  Worlds out{.gpu = question.gpu.name, .title = question.gpu.title};
  for (const std::int64_t gpus : usual_worlds) {
    const std::optional<CheckedFit> fit = survey::fit_with(question, std::string(world_key), gpus);
    if (!fit) return std::nullopt;
    out.points.push_back({gpus, fit->needed, fit->at_least, fit->fits});
  }
  return out;
}

}  // namespace oomplan
