// A run replayed for several cards.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "oomplan/estimate/estimate.hpp"

namespace oomplan::cli {

/// A run replayed, once for each size of a cuBLAS workspace.
class Replays {
 public:
  /// Takes the footprint's events.
  Replays(Footprint& footprint, const AllocatorSettings& settings)
      : events_(std::exchange(footprint.events, {})),
        handles_(std::exchange(footprint.cublas_handles, {})),
        settings_(settings) {}

  const Reservation& with(const Gpu& gpu) { return with(gpu.cublas_workspace); }
  const Reservation& of_first(const std::vector<Gpu>& gpus) {
    return with(gpus.empty() ? Bytes() : gpus.front().cublas_workspace);
  }

 private:
  const Reservation& with(Bytes workspace) {
    const auto known = by_workspace_.find(workspace);
    if (known != by_workspace_.end()) return known->second;
    Reservation made(events_, settings_, {workspace, handles_});
    return by_workspace_.emplace(workspace, std::move(made)).first->second;
  }

  std::vector<Event> events_;
  std::vector<std::size_t> handles_;
  AllocatorSettings settings_;
  std::map<Bytes, Reservation> by_workspace_{};
};

}  // namespace oomplan::cli
