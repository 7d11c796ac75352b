// Running a job: its output passed through, what it holds sampled, how it ended. Sizes are bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/core/result.hpp"

namespace oomplan {

/// A memory cgroup that the job was in, or one above that.
struct CgroupUse {
  std::string path{};                   ///< Below the hierarchy's root, as /proc/PID/cgroup has it.
  std::optional<std::int64_t> limit{};  ///< memory.max; v1: memory.limit_in_bytes.
  std::int64_t highest = 0;             ///< The highest usage while the job ran.
  std::int64_t kills = 0;               ///< Processes in it that the kernel killed for memory while the job ran.
  std::int64_t limit_met = 0;           ///< How often its own limit left an allocation without memory (v1: failcnt).
};

/// A GPU with all who use it, as NVML counts.
struct GpuUse {
  std::int64_t index = 0;
  std::int64_t total = 0;
  std::int64_t highest = 0;
  std::int64_t last = 0;  ///< At the last sample in which the job lived.
};

/// A store that is full at some point: /dev/shm, the host's memory.
struct StoreUse {
  std::int64_t total = 0;
  std::int64_t highest = 0;  ///< In use, by whomever.
};

/// What was seen while a job ran. What cannot be read is left out.
struct Samples {
  std::int64_t rss = 0;        ///< The most that all its processes held at one time; shared pages count
                               ///< in each that has them.
  std::int64_t processes = 0;  ///< At that time.
  std::optional<std::int64_t> address_space{};  ///< RLIMIT_AS (ulimit -v) of its largest process.
  std::vector<CgroupUse> cgroups{};             ///< The innermost first.
  std::optional<StoreUse> shm{};
  std::optional<StoreUse> host{};            ///< Total less MemAvailable.
  std::optional<std::int64_t> host_kills{};  ///< Processes that the kernel killed for memory on all the host meanwhile.
  std::vector<GpuUse> gpus{};
};

/// How a job ended.
struct Ended {
  int exit_code = 0;  ///< Its own; 128 + signal where a signal ended it, as shells have it.
  int signal = 0;     ///< 0 where it exited.
  double seconds = 0;
  /// The highest RSS of any one process that was waited for (getrusage); it counts at least what this program held when
  /// it started the job, a few MB.
  std::int64_t largest_process = 0;
  std::string lost_output{};  ///< Why its output could not be passed on; empty where it could.
  Samples samples{};
};

/// Called with whole lines of the job's output, both streams in the order of their arrival; a line of a quarter MiB and
/// more comes in pieces.
using OutputSink = std::function<void(std::string_view lines)>;

/// Runs `command` (not empty; found by PATH) and waits for it. Its standard input is ours; what it writes comes out of
/// our standard output and error byte by byte, in order where both lead to one place, and goes to `sink`. Where ours is
/// a terminal it gets one, whose size follows. It leads a process group of its own, to which every signal that reaches
/// us is sent. What outlives it loses its output after two seconds. Errors, where it could not be started:
/// watch/not-found   no such program
/// watch/not-started it may not be executed, or the system refused
Result<Ended> watch(const std::vector<std::string>& command, const OutputSink& sink);

/// What is known of the end, in lines of rules/messages/watch.yaml, so that a diagnosis reads them like any others.
std::string account_of(const Ended& ended);

}  // namespace oomplan
