#include <fmt/format.h>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

// AWS Lambda's report of a call that was killed: it held all that the function may have.
const Evidence* full_function(const Case& c) {
  if (c.root->says != Says::launcher && c.root->says != Says::killed) return nullptr;
  if (signal_of(*c.root) != "SIGKILL") return nullptr;
  for (const Evidence& e : *c.evidence) {
    const std::int64_t limit = e.family == "lambda" ? e.number("limit").value_or(0) : 0;
    if (limit > 0 && e.number("used").value_or(0) >= limit) return &e;
  }
  return nullptr;
}

}  // namespace

Judgement causes::cgroup_oom(const Case& c) {
  if (c.root == nullptr) return {};
  if (const Evidence* report = full_function(c))
    return {.cause = Cause::cgroup_oom,
            .weight = 75,
            .confidence = Confidence::likely,
            .reason = "the function was killed with all its memory in use",
            .arithmetic = {"used " + report->text_of("used") + " of " + report->text_of("limit")}};
  const bool runtime = c.root->says == Says::cgroup_killed;
  const KernelScope scope = is_kernel_kill(c) ? kernel_scope(c) : KernelScope::host;
  if (!runtime && scope == KernelScope::host) return {};
  if (is_told_kill(c) && c.root->text_of("told") == "container")
    return {
        .cause = Cause::cgroup_oom,
        .weight = 86,
        .confidence = Confidence::possible,
        .reason = "a container was killed for memory: mostly its limit was met; that the host was full reads the same"};
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
