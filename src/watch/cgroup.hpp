// The memory cgroups over a process, of both versions.
//
// Files: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of the kernel. memory.events counts for a
// cgroup and all below it, memory.oom_control (v1) for the victim's own.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "oomplan/watch/watch.hpp"

namespace oomplan::watching {

/// A process's place in the hierarchy that counts memory.
struct Membership {
  std::string path{};    ///< Empty where there is none.
  bool unified = false;  ///< v2.
};

/// Of /proc/PID/cgroup. "4:memory:/path" is v1's memory hierarchy, "0::/path" v2's; where both are mounted, v1 counts
/// the memory.
Membership membership_in(std::string_view text);

class CgroupWatch {
 public:
  /// `root` stands for / in tests.
  explicit CgroupWatch(std::string root = "") : root_(std::move(root)) {}

  /// Looks where `job` is, if it still lives, and reads the counters; what they were when a cgroup was first seen is
  /// not the job's.
  void sample(pid_t job);
  /// The innermost first.
  std::vector<CgroupUse> uses() const;

 private:
  struct Counters {
    std::int64_t kills = 0;
    std::int64_t limit_met = 0;
    std::int64_t peak = 0;
  };
  struct Level {
    CgroupUse use{};
    std::string folder{};
    bool unified = false;
    Counters first{};
  };

  /// Empty where it no longer lives.
  Membership membership_of(pid_t process) const;
  void find_levels(pid_t job);
  static Counters counters_of(const Level& level);
  static void read(Level& level);

  std::string root_{};
  std::string path_{};
  std::vector<Level> levels_{};
};

}  // namespace oomplan::watching
