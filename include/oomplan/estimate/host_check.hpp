// The host's part of a verdict, for commands that hold many plans against a machine.
#pragma once

#include <functional>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/estimate/host.hpp"

namespace oomplan {

/// A plan held against the limits of a host.
struct HostHeld {
  std::vector<HostFit> fits{};  ///< One for each limit that was asked for.
  Diagnostics errors{};         ///< Why one of them cannot be decided.
};

/// What a plan comes to on the host, `paged` beside it. Empty where nobody asks. Called from several threads.
using HostCheck =
    std::function<HostHeld(const TrainingPlan& plan, const Architecture& architecture, const PagedOut& paged)>;

/// What a card has no room for, so that it lies on the host.
inline PagedOut paged_out_of(const Gpu& gpu, Bytes bytes) { return {bytes, "what " + gpu.title + " has no room for"}; }

}  // namespace oomplan
