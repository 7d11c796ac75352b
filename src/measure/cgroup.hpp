// What the kernel counts for the cgroup that this process is in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace oomplan::measure {

struct CgroupMemory {
  std::optional<std::int64_t> peak{};  ///< memory.peak (v2), memory.max_usage_in_bytes (v1)
  std::optional<std::int64_t> file{};  ///< Page cache, of memory.stat.
};

/// Below `root`, with /proc/self/cgroup as `membership` has it. Nothing where there is no such cgroup.
CgroupMemory cgroup_memory(const std::string& root, const std::string& membership);
CgroupMemory cgroup_memory();

}  // namespace oomplan::measure
