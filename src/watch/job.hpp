// The start of a job.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "descriptor.hpp"
#include "oomplan/core/result.hpp"

namespace oomplan::watching {

/// The leader of a process group of its own.
struct Job {
  pid_t pid = 0;
  Descriptor out{};  ///< What it writes to standard output.
  Descriptor err{};  ///< To standard error; not open where both lead to one place, and come by `out`.
};

/// Starts `command` with the signal mask `mask`. Errors: watch/not-found, watch/not-started.
Result<Job> start(const std::vector<std::string>& command, const sigset_t& mask);

}  // namespace oomplan::watching
