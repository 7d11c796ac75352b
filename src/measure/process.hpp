// What the kernel says that a process holds.
#pragma once

#include <cstdint>
#include <string>

namespace oomplan::measure {

/// Bytes; 0 where the kernel does not say.
struct ProcessMemory {
  std::int64_t rss = 0;       ///< VmRSS
  std::int64_t peak_rss = 0;  ///< VmHWM
  std::int64_t anonymous = 0;
  std::int64_t file = 0;
  std::int64_t shared = 0;  ///< RssShmem
};

/// From /proc/PID/status; `pid` may be "self". All 0 where there is no such process.
ProcessMemory memory_of(const std::string& pid);
inline ProcessMemory memory_of_this_process() { return memory_of("self"); }

/// Proportional set size, from /proc/PID/smaps_rollup.
std::int64_t proportional_of(const std::string& pid);

}  // namespace oomplan::measure
