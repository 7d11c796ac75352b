// How many GPUs an answer is for.
#pragma once

#include <cstdint>

#include "oomplan/plan/plan.hpp"

namespace oomplan {

struct GpuCount {
  std::int64_t gpus = 1;
  bool said = true;  ///< Else nobody says it, and one is assumed.
};

inline GpuCount gpu_count(const TrainingPlan& plan) {
  const Setting<std::int64_t>& world = plan.mesh.world_size;
  return {world.value, world.origin.is_said()};
}

}  // namespace oomplan
