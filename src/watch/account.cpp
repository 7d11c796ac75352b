// The sentences of rules/messages/watch.yaml, with values.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "oomplan/core/text.hpp"
#include "oomplan/watch/watch.hpp"

namespace oomplan {
namespace {

std::string size(std::int64_t bytes) { return to_text(Bytes(bytes)); }

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? "SIG" + std::string(name) : fmt::format("signal {}", signal);
}

/// A cgroup's limit was met where an allocation of its own failed; the kernel's count of kills knows all OOM killers.
std::vector<std::string> kills_of(const Samples& seen) {
  // Of the innermost alone: those around it hold other jobs too.
  const std::int64_t kills = seen.cgroups.empty() ? 0 : seen.cgroups.front().kills;
  if (kills == 0 && !seen.host_kills) return {};
  if (kills == 0)
    return {
        fmt::format("the kernel killed {} for memory on this host meanwhile", counted(*seen.host_kills, "process"))};
  for (const CgroupUse& use : seen.cgroups) {
    if (!use.limit || use.limit_met == 0) continue;
    return {fmt::format("the kernel killed {} for memory: cgroup {} met its limit of {}, and used {} at most",
                        counted(kills, "process"), printable(use.path), size(*use.limit), size(use.highest))};
  }
  return {fmt::format("the kernel killed {} of the job's cgroup for memory, and no cgroup had met its limit",
                      counted(kills, "process"))};
}

std::vector<std::string> lines_of(const Samples& seen) {
  std::vector<std::string> out = kills_of(seen);
  for (const CgroupUse& use : seen.cgroups) {
    if (!use.limit) continue;
    out.push_back(fmt::format("cgroup {} used at most {}, of a limit of {}", printable(use.path), size(use.highest),
                              size(*use.limit)));
  }
  if (seen.address_space)
    out.push_back(fmt::format("a process may have an address space of {} (ulimit -v)", size(*seen.address_space)));
  if (seen.shm)
    out.push_back(fmt::format("/dev/shm held at most {} of {}", size(seen.shm->highest), size(seen.shm->total)));
  if (seen.host)
    out.push_back(fmt::format("the host used at most {} of {}", size(seen.host->highest), size(seen.host->total)));
  for (const GpuUse& gpu : seen.gpus) {
    out.push_back(fmt::format("GPU {} used at most {} of {}, and {} at last, by whomever", gpu.index, size(gpu.highest),
                              size(gpu.total), size(gpu.last)));
  }
  return out;
}

}  // namespace

std::string account_of(const Ended& ended) {
  const Samples& seen = ended.samples;
  std::vector<std::string> lines;
  if (!ended.lost_output.empty()) lines.push_back("the job's output could not be passed on: " + ended.lost_output);
  lines.push_back(ended.signal != 0
                      ? fmt::format("the job was ended by {} after {:.1f} s", signal_name(ended.signal), ended.seconds)
                      : fmt::format("the job ended with exit code {} after {:.1f} s", ended.exit_code, ended.seconds));
  if (seen.processes > 0)
    lines.push_back(fmt::format("its {} held {} at most", counted(seen.processes, "process"), size(seen.rss)));
  lines.push_back(fmt::format("its largest process that ended held {} at most", size(ended.largest_process)));
  const std::vector<std::string> samples = lines_of(seen);
  lines.insert(lines.end(), samples.begin(), samples.end());
  std::string out;
  for (const std::string& line : lines) out += "oomplan run: " + line + "\n";
  return out;
}

}  // namespace oomplan
