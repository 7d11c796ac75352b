// Many alike tasks on all cores.
#pragma once

#include <cstddef>
#include <functional>

namespace oomplan::cli {

/// Calls `task` once for each of 0 … count - 1, on as many threads as the process may use cores. Each writes its own
/// answer into its own place, so that the order of the answers is the order of the questions. An exception of a task
/// ends all and is thrown on.
void for_each_index(std::size_t count, const std::function<void(std::size_t)>& task);

}  // namespace oomplan::cli
