// What the processes below one hold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace oomplan::watching {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  std::int64_t pages = 0;  ///< Resident.
  bool exiting = false;    ///< On its way out, and not yet a zombie.
  bool of_the_tree = false;
};

/// Of /proc/PID/stat: "PID (NAME) STATE PPID …", the flags its 9th field and the RSS its 24th (proc(5)); a name may
/// hold spaces and brackets. Nothing for a zombie.
std::optional<Process> process_in(const std::string& stat);

struct TreeUse {
  std::int64_t rss = 0;        ///< Bytes of all together.
  std::int64_t processes = 0;  ///< Zombies left out.
  pid_t largest = 0;           ///< The one with the highest RSS; 0 where there is none.
};

/// Of the descendants of `root`, itself left out.
TreeUse tree_use(pid_t root);

/// The soft limit of the process's address space (ulimit -v), in bytes; nothing where there is none.
std::optional<std::int64_t> address_space_of(pid_t pid);

}  // namespace oomplan::watching
