#include <algorithm>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

const char* of_node(const Evidence& told) {
  if (told.family == "k8s_event") return "the kubelet says that the node itself was out of memory";
  if (told.find("panic") != nullptr) return "the kernel ran out of memory and stopped the whole machine";
  return "the system says that it killed because its own memory was short";
}

}  // namespace

Judgement causes::global_host_oom(const Case& c) {
  if (c.root == nullptr) return {};
  const bool node = c.root->says == Says::node_killed;
  const bool report = c.root->says == Says::kernel_short;
  const KernelScope scope = is_kernel_kill(c) ? kernel_scope(c) : KernelScope::cgroup;
  if (!node && !report && scope == KernelScope::cgroup) return {};
  Judgement out{.cause = Cause::global_host_oom, .weight = 85, .confidence = Confidence::proved};
  out.reason = node ? of_node(*c.root) : "the kernel killed for the whole host";
  if (c.text_of("constraint") == "CONSTRAINT_CPUSET") out.reason = "the kernel killed because one NUMA node was full";
  if (report) {
    out.confidence = Confidence::possible;
    out.reason = "the kernel reports its memory at a failed allocation, but names no victim";
    if (const auto free = c.number("free_pages"))
      out.against.push_back(shown(*free * 4096) + " were free: one zone was short, not the whole memory");
  }
  if (!node && !report && scope == KernelScope::unknown) {
    out.confidence = Confidence::possible;
    out.reason = "the kernel ran out of memory, of the host or of a cgroup: the line that says which is not in the log";
    if (is_told_kill(c)) out.reason = "it was killed for memory: of the host or of a limit of its own is not told";
    if (!is_told_kill(c))
      out.against.push_back("a cgroup's limit reads the same where the head of the kernel's report is cut");
  }
  const bool named = std::any_of(c.evidence->begin(), c.evidence->end(), [](const Evidence& e) {
    return e.says == Says::kernel_killed || e.find("comm") != nullptr || e.find("anon_rss") != nullptr ||
           e.find("constraint") != nullptr;
  });
  if (is_kernel_kill(c) && !named && !is_told_kill(c))
    out.against.push_back("\"invoked oom-killer\" says who asked for the page that was not there, not who was killed");
  if (c.find("asked") != nullptr) {
    out.confidence = Confidence::possible;
    out.against.push_back("somebody asked the kernel to kill, by SysRq: memory need not have been short");
  }
  if (const auto rss = c.number("anon_rss")) out.arithmetic.push_back("the victim held " + shown(*rss) + " of its own");
  return out;
}

}  // namespace oomplan::diagnose
