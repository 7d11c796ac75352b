// What the kernel says that a process holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// Where a page is shared by n processes, an n-th of it counts for each. From /proc/PID/smaps_rollup, in bytes.
struct ProportionalMemory {
  std::int64_t total = 0;
  std::int64_t anonymous = 0;
  std::int64_t shared = 0;
};
ProportionalMemory proportional_of(const std::string& pid);

/// The process and all that descend from it, as far as they live.
std::vector<int> process_tree(int root);

}  // namespace oomplan::measure
