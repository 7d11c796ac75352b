// A step's memory over time, thinned out for a picture.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "oomplan/catalog/architecture.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/estimate/footprint.hpp"
#include "oomplan/plan/plan.hpp"

namespace oomplan {

/// What one op of one module allocates, in whatever layer. Those that never hold much are one of their bucket,
/// without op and module.
struct CurveGroup {
  Bucket bucket = Bucket::temporaries;
  std::string op{};
  std::string module{};  ///< Layer numbers as '*'.
};

/// A moment, and the allocation that leads to it.
struct CurvePoint {
  Phase phase = Phase::forward;
  std::vector<Bytes> by_group{};  ///< Of tensors, for each of the curve's groups.
  Bytes reserved{};               ///< By the caching allocator on a card without limit, cuBLAS's workspaces included.
  std::string op{};
  std::string module{};  ///< Layer numbers as '*'.
  int layer = -1;        ///< -1 outside the blocks.
  Bytes bytes{};
};

/// The highest moments of equal stretches of one step, in order of time.
struct Curve {
  int step = 0;                      ///< The one with the highest moment; from 1, 0 is load.
  std::vector<CurveGroup> groups{};  ///< By bucket; within one the largest first, what is together last.
  std::vector<CurvePoint> points{};
};

inline constexpr std::size_t usual_points = 2'000;
inline constexpr std::size_t every_point = std::numeric_limits<std::size_t>::max();

/// Plays the plan as estimate() does. A cuBLAS handle takes `workspace`. The highest of the points is the footprint's
/// peak. Errors as snapshot_of().
Result<Curve> curve(const TrainingPlan& plan, const Architecture& architecture, Bytes workspace = {},
                    std::size_t most = usual_points);

/// What a point's groups hold together.
ByBucket by_bucket(const Curve& curve, const CurvePoint& point);

}  // namespace oomplan
