// Looks every second at what a job holds, in a thread of its own: a driver that hangs must not hold up the job's
// output.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <thread>

#include "oomplan/watch/watch.hpp"

namespace oomplan::watching {

/// The time to the next look, after the one with number `sample` (from 0) that took `cost` of a core, and `idle` looks
/// without a change. From the eighth look on at most 0.4 % of a core.
std::chrono::nanoseconds pause_after(int sample, std::chrono::nanoseconds cost, int idle);

class Sampler {
 public:
  /// Of all processes below this one; the cgroup is that of `job`.
  explicit Sampler(pid_t job);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  /// Does not wait for a thread that hangs.
  ~Sampler();

  /// Looks a last time at the counters, which outlive the job, and ends. What was seen so far where that hangs.
  Samples finish();

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::thread thread_{};
};

}  // namespace oomplan::watching
