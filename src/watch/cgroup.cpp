#include "cgroup.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "files.hpp"
#include "process_tree.hpp"

namespace oomplan::watching {
namespace {

// v1 has no word for "no limit" but the largest multiple of a page.
constexpr std::int64_t no_limit = std::int64_t{1} << 60;

}  // namespace

Membership membership_in(std::string_view text) {
  Membership out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(":/", first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers = "," + std::string(line.substr(first + 1, second - first - 1)) + ",";
    if (controllers.find(",memory,") != std::string::npos) return {std::string(line.substr(second + 1)), false};
    if (line.starts_with("0::")) out = {std::string(line.substr(second + 1)), true};
  }
  return out;
}

// v1 says "/" of a process that is on its way out (kernel/cgroup/cgroup.c, proc_cgroup_show), wherever it was.
Membership CgroupWatch::membership_of(pid_t process) const {
  const std::string folder = root_ + "/proc/" + std::to_string(process);
  Membership at = membership_in(text_of(folder + "/cgroup"));
  const auto read_after = process_in(text_of(folder + "/stat"));
  return read_after && !read_after->exiting ? at : Membership{};
}

// A container sees its own cgroup as the root of the mount, while the path may be the host's: then that root is it.
void CgroupWatch::find_levels(pid_t job) {
  const Membership at = membership_of(job);
  if (at.path.empty() || at.path == path_) return;
  path_ = at.path;
  const std::string mount = root_ + (at.unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
  const char* usage = at.unified ? "/memory.current" : "/memory.usage_in_bytes";
  std::vector<Level> levels;
  for (std::string path = at.path; levels.size() < 32; path.erase(path.rfind('/'))) {
    if (path == "/") path.clear();
    Level level{.use = {.path = path.empty() ? "/" : path}, .folder = mount + path, .unified = at.unified};
    if (access((level.folder + usage).c_str(), R_OK) == 0) {
      level.first = counters_of(level);
      levels.push_back(std::move(level));
    }
    if (path.empty()) break;
  }
  for (Level& old : levels_) {
    const auto same = std::ranges::find(levels, old.folder, &Level::folder);
    if (same != levels.end()) *same = std::move(old);
  }
  levels_ = std::move(levels);
}

CgroupWatch::Counters CgroupWatch::counters_of(const Level& level) {
  const auto number = [&](const char* name) { return number_in(level.folder + name).value_or(0); };
  if (!level.unified) {
    const std::string control = text_of(level.folder + "/memory.oom_control");
    return {number_after(control, "oom_kill").value_or(0), number("/memory.failcnt"),
            number("/memory.max_usage_in_bytes")};
  }
  const std::string events = text_of(level.folder + "/memory.events");
  return {number_after(events, "oom_kill").value_or(0), number_after(events, "oom").value_or(0),
          number("/memory.peak")};
}

void CgroupWatch::read(Level& level) {
  const auto usage = number_in(level.folder + (level.unified ? "/memory.current" : "/memory.usage_in_bytes"));
  if (!usage) return;
  const auto limit = number_in(level.folder + (level.unified ? "/memory.max" : "/memory.limit_in_bytes"));
  level.use.limit = limit && *limit < no_limit ? limit : std::nullopt;
  const Counters now = counters_of(level);
  level.use.highest = std::max(level.use.highest, *usage);
  if (now.peak > level.first.peak) level.use.highest = std::max(level.use.highest, now.peak);
  level.use.kills = std::max<std::int64_t>(0, now.kills - level.first.kills);
  level.use.limit_met = std::max<std::int64_t>(0, now.limit_met - level.first.limit_met);
}

void CgroupWatch::sample(pid_t job) {
  find_levels(job);
  for (Level& level : levels_) read(level);
}

std::vector<CgroupUse> CgroupWatch::uses() const {
  std::vector<CgroupUse> out;
  for (const Level& level : levels_) out.push_back(level.use);
  return out;
}

}  // namespace oomplan::watching
