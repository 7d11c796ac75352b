// One config over a grid of settings: what fits, and the largest that does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oomplan/catalog/machine.hpp"
#include "oomplan/core/bytes.hpp"
#include "oomplan/estimate/verdict.hpp"
#include "oomplan/plan/gpu_count.hpp"

namespace oomplan {

/// One setting and the values that it takes.
struct Axis {
  std::string key{};  ///< As --set takes it: a key of the config's own format, or a field of the plan.
  std::vector<std::string> values{};
  bool numbers = false;  ///< The values are numbers, ascending, of which the last needs no less than the first:
                         ///< "larger" has a meaning.
  friend bool operator==(const Axis&, const Axis&) = default;
};

/// The most points of a grid.
inline constexpr std::int64_t most_points = 1'000'000;

/// One combination.
struct SweepPoint {
  Bytes needed{};               ///< As in Fit; of an undecided point zero.
  bool at_least = false;        ///< The tensors alone are too much, so `needed` is a bound from below.
  bool fits = false;            ///< With the headroom asked for, and on the host where that is asked for.
  std::vector<HostFit> host{};  ///< The limits that were asked for, where the GPU has room.
  bool replayed = false;        ///< The allocator was played for it.
  std::string undecided{};      ///< Why there is no figure.
  std::string code{};           ///< Of that reason's diagnostic.
  friend bool operator==(const SweepPoint&, const SweepPoint&) = default;
};

struct Sweep {
  std::string config{};
  GpuCount count{};               ///< Of the GPUs that each answer is for.
  std::string assumed_trainer{};  ///< As assumed_trainer() has it; empty where something says whose trainer it is.
  Gpu gpu{};
  double headroom = 0;  ///< Of gpu.total, 0 to 1.
  std::vector<Axis> axes{};
  std::vector<SweepPoint> points{};      ///< The last axis goes round quickest.
  std::vector<std::size_t> lucky{};      ///< Points that fit though one that is smaller in a number and larger in none
                                         ///< does not: the allocator's rounding. None is taken for what fits below.
  std::vector<std::size_t> frontier{};   ///< Points that fit while no point that is larger in one number and smaller in
                                         ///< none, all else equal, does.
  std::optional<std::size_t> largest{};  ///< Of the frontier the one with the largest product of its numbers.
};

/// The values of point `i`, one for each axis.
inline std::vector<std::string> values_at(const std::vector<Axis>& axes, std::size_t i) {
  std::vector<std::string> out(axes.size());
  for (std::size_t a = axes.size(); a-- > 0; i /= axes[a].values.size())
    out[a] = axes[a].values[i % axes[a].values.size()];
  return out;
}

}  // namespace oomplan
