// A run replayed for several cards.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "oomplan/estimate/estimate.hpp"

namespace oomplan::cli {

/// A run replayed, once for each size of a cuBLAS workspace.
class Replays {
 public:
  /// Takes the footprint's events, for these GPUs; `others`: with() may be asked of further ones.
  Replays(Footprint& footprint, const AllocatorSettings& settings, const std::vector<Gpu>& gpus, bool others = false)
      : events_(std::exchange(footprint.events, {})),
        beside_{{}, std::exchange(footprint.cublas_handles, {}), footprint.first_scratch},
        settings_(settings),
        first_(gpus.empty() ? Bytes() : gpus.front().cublas_workspace),
        count_(events_.size()),
        others_(others) {
    for (const Event& event : events_) {
      if (event.kind == Event::Kind::times) count_ += static_cast<std::size_t>(event.value);
    }
    for (const Gpu& gpu : gpus) sizes_left_.insert(gpu.cublas_workspace);
  }

  /// How many events the run has, all turns of its loops counted.
  std::size_t events() const { return count_; }

  const Reservation& with(const Gpu& gpu) { return with(gpu.cublas_workspace); }
  /// With the first GPU's; without a workspace where there is none.
  const Reservation& first() { return with(first_); }

 private:
  const Reservation& with(Bytes workspace) {
    const auto known = by_workspace_.find(workspace);
    if (known != by_workspace_.end()) return known->second;
    sizes_left_.erase(workspace);
    const bool last = sizes_left_.empty() && !others_;
    Reservation made(last ? std::move(events_) : events_, settings_,
                     {workspace, beside_.before, beside_.first_scratch});
    return by_workspace_.emplace(workspace, std::move(made)).first->second;
  }

  std::vector<Event> events_;
  Workspaces beside_;  ///< Their size left open.
  AllocatorSettings settings_;
  Bytes first_;
  std::size_t count_;
  bool others_ = false;
  std::set<Bytes> sizes_left_{};
  std::map<Bytes, Reservation> by_workspace_{};
};

}  // namespace oomplan::cli
