#include "../cause.hpp"

namespace oomplan::diagnose {

Judgement causes::global_host_oom(const Case& c) {
  if (c.root == nullptr) return {};
  const bool node = c.root->says == Says::node_killed;
  const bool report = c.root->says == Says::kernel_short;
  if (!node && !report && !(is_kernel_kill(c) && !kernel_says_cgroup(c))) return {};
  Judgement out{.cause = Cause::global_host_oom, .weight = 85, .confidence = Confidence::proved};
  out.reason =
      node ? "the kubelet says that the node itself was out of memory" : "the kernel killed for the whole host";
  if (c.text_of("constraint") == "CONSTRAINT_CPUSET") out.reason = "the kernel killed because one NUMA node was full";
  if (report) {
    out.confidence = Confidence::possible;
    out.reason = "the kernel reports its memory at a failed allocation, but names no victim";
    if (const auto free = c.number("free_pages"))
      out.against.push_back(shown(*free * 4096) + " were free: one zone was short, not the whole memory");
  }
  if (const auto rss = c.number("anon_rss")) out.arithmetic.push_back("the victim held " + shown(*rss) + " of its own");
  return out;
}

}  // namespace oomplan::diagnose
