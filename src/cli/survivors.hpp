// Tasks of which one may end its process by a signal, which is a bug of ours: the others get done all the same.
#pragma once

#include <cstddef>
#include <functional>

namespace oomplan::cli {

/// Calls `task` for each index below `count`, on all cores, in a child process in which the program goes on; the parent
/// only waits, and ends as that does. Where SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT ends the child within a task,
/// another one begins anew from here and calls `lost` for that task, with the signal, in place of it. Where several
/// were in hand, each is first tried alone. Without a child process where the system has none left. No other thread may
/// run. Throws what a task throws.
void for_each_surviving(std::size_t count, const std::function<void(std::size_t)>& task,
                        const std::function<void(std::size_t, int)>& lost);

}  // namespace oomplan::cli
