// A step's memory over time, thinned out for a picture.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/footprint.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan {

/// A moment, and the allocation that leads to it.
struct CurvePoint {
  Phase phase = Phase::forward;
  ByBucket by_bucket{};  ///< Of tensors.
  std::string op{};
  std::string module{};  ///< Layer numbers as '*'.
  int layer = -1;        ///< -1 outside the blocks.
  Bytes bytes{};
};

/// The highest moments of equal stretches of one step, in order of time.
struct Curve {
  int step = 0;  ///< The one with the highest moment; from 1, 0 is load.
  std::vector<CurvePoint> points{};
};

inline constexpr std::size_t usual_points = 480;

/// Plays the plan as estimate() does, whose errors it has. The highest of the points is the footprint's peak.
Result<Curve> curve(const TrainingPlan& plan, const Architecture& architecture, std::size_t most = usual_points);

}  // namespace oomplan
