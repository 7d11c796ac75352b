// The host's part of a verdict, for commands that hold many plans against a machine.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/host.hpp"

namespace oomplan {

/// A plan held against the limits of a host.
struct HostHeld {
  std::vector<HostFit> fits{};  ///< One for each limit that was asked for.
  Diagnostics errors{};         ///< Why one of them cannot be decided.
};

/// The first limit that is too small: it stops the run, whatever is not known of another. Null: none is.
inline const HostFit* too_small(const std::vector<HostFit>& limits) {
  const auto found = std::ranges::find(limits, FitVerdict::does_not_fit, &HostFit::verdict);
  return found == limits.end() ? nullptr : &*found;
}

/// What a plan comes to on the host, `paged` beside it. Empty where nobody asks. Called from several threads.
using HostCheck =
    std::function<HostHeld(const TrainingPlan& plan, const Architecture& architecture, const PagedOut& paged)>;

/// "host RAM: 70.00 GiB needed of 64.00 GiB".
inline std::string limit_text(const HostFit& fit) {
  const std::string name = fit.name == "host_ram" ? "host RAM" : fit.name == "shm" ? "/dev/shm" : "the cgroup";
  const std::string edge = fit.verdict == FitVerdict::at_the_edge ? ", at the edge" : "";
  return name + ": " + to_text(fit.needed) + " needed of " + to_text(fit.limit) + edge;
}

}  // namespace oomplan
