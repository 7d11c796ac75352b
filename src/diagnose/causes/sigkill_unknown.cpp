#include <fmt/format.h>

#include <span>

#include "../cause.hpp"

namespace oomplan::diagnose {
namespace {

/// From here on a host that was about to run out is likelier than a person who killed the run.
constexpr double nearly_full = 90;

/// How much of the host's memory was in use, in percent, as DeepSpeed last said before the root; 0 where it did not.
double last_used(const Case& c) {
  const auto before = std::span(*c.evidence).first(static_cast<std::size_t>(c.root - c.evidence->data()));
  for (auto e = before.rbegin(); e != before.rend(); ++e) {
    if (const Reading* used = e->find("cpu_percent")) return used->real;
  }
  return 0;
}

}  // namespace

Judgement causes::sigkill_unknown(const Case& c) {
  if (c.root == nullptr) return {};
  const bool launcher = c.root->says == Says::launcher || c.root->says == Says::killed;
  const bool vanished = c.root->family == "dataloader_signal" || c.find("vanished") != nullptr;
  const bool silent = vanished && signal_of(*c.root).empty();
  if (!launcher || (signal_of(*c.root) != "SIGKILL" && !silent)) return {};
  Judgement out{.cause = Cause::sigkill_unknown, .weight = 60, .confidence = Confidence::possible};
  out.reason = "something sent SIGKILL; the kernel's OOM killer does, but so do people, schedulers and probes";
  if (silent) out.reason = "a process vanished without a word";
  if (c.moment.host_memory_peaks)
    out.arithmetic.push_back("it died in " + c.moment.phase +
                             ", where host memory peaks: out of host memory is likely, not proved");
  if (const double used = last_used(c); used >= nearly_full)
    out.arithmetic.push_back(fmt::format(
        "DeepSpeed saw {} % of the host's memory in use before it: out of host memory is likely, not proved", used));
  const std::optional<std::int64_t> kills = c.number("host_oom_kills");
  if (kills && *kills > 0)
    out.arithmetic.push_back("the kernel killed for memory on this host while it ran, " + std::to_string(*kills) +
                             " in all: whether it was among them is not known");
  out.against.push_back(kills && *kills == 0
                            ? "the kernel killed nobody for memory on this host while it ran: someone sent the signal"
                            : "no line of the kernel, of a container or of a scheduler says who killed and why");
  return out;
}

}  // namespace oomplan::diagnose
