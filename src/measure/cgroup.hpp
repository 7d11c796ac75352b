// What the kernel counts for a cgroup.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace oomplan::measure {

/// Where a process's memory is counted.
struct Cgroup {
  std::string folder{};  ///< Below /sys/fs/cgroup.
  bool v1 = false;
  friend bool operator==(const Cgroup&, const Cgroup&) = default;
};

struct CgroupMemory {
  std::optional<std::int64_t> peak{};  ///< memory.peak (v2), memory.max_usage_in_bytes (v1)
  std::optional<std::int64_t> file{};  ///< Page cache, of memory.stat.
};

/// Below `root`, with /proc/self/cgroup as `membership` has it. Nothing where there is no such cgroup.
std::optional<Cgroup> cgroup_of(const std::string& root, const std::string& membership);
std::optional<Cgroup> cgroup_of_this_process();

CgroupMemory memory_of(const Cgroup& cgroup);

/// The name of its file with the peak, which a cgroup has only where its memory is counted.
const char* peak_file(const Cgroup& cgroup);

/// The folder in which a cgroup of one's own is counted by itself, and under the same limits as `cgroup`: that one's,
/// or in v2, where a cgroup with processes passes nothing on, the one above, if `cgroup` has no limit. "" where there
/// is none.
std::string folder_for_own(const std::string& root, const Cgroup& cgroup);

}  // namespace oomplan::measure
