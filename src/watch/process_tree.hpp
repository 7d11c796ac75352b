// What the processes below one hold.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace oomplan::watching {

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
