#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::cgroup_oom(const Case& c) {
  if (c.root == nullptr) return {};
  const bool runtime = c.root->says == Says::cgroup_killed;
  const KernelScope scope = is_kernel_kill(c) ? kernel_scope(c) : KernelScope::host;
  if (!runtime && scope == KernelScope::host) return {};
  if (!runtime && scope == KernelScope::unknown)
    return {.cause = Cause::cgroup_oom,
            .weight = 84,
            .confidence = Confidence::possible,
            .reason = is_told_kill(c) ? "it was killed for memory, and the log does not say whether a limit was met"
                                      : "the kernel killed, and the line that says for whose limit is not in the log"};
  Judgement out{.cause = Cause::cgroup_oom, .weight = 90, .confidence = Confidence::proved};
  out.reason = runtime ? "the container runtime's own record says so" : "the kernel says that a cgroup's limit was met";
  const auto usage = c.number("usage");
  const auto limit = c.number("limit");
  if (usage && limit) out.arithmetic.push_back(fmt::format("used {} of {}", shown(*usage), shown(*limit)));
  const auto shared = c.number("shmem");
  if (shared && *shared > 0)
    out.arithmetic.push_back(shown(*shared) + " of it is shared memory: /dev/shm is charged to the cgroup");
  return out;
}

}  // namespace oomplan::diagnose
