#include "cgroup.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan::measure {
namespace {

constexpr const char* v1_peak = "memory.max_usage_in_bytes";
constexpr const char* v2_peak = "memory.peak";

std::string line_in(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

std::optional<std::int64_t> stat_in(const std::string& folder, std::string_view key) {
  std::ifstream file(folder + "/memory.stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' '))
      return parse_integer(line.substr(key.size() + 1));
  }
  return std::nullopt;
}

/// In a container the membership may name a path of the host; its own cgroup is the root then.
std::optional<Cgroup> counted(const std::string& root, const std::string& path, bool v1) {
  for (const std::string& folder : {root + (path == "/" ? "" : path), root}) {
    const Cgroup cgroup{folder, v1};
    if (std::ifstream(folder + "/" + peak_file(cgroup)).good()) return cgroup;
  }
  return std::nullopt;
}

bool passes_memory_on(const std::string& folder) {
  std::istringstream words(line_in(folder + "/cgroup.subtree_control"));
  for (std::string word; words >> word;) {
    if (word == "memory") return true;
  }
  return false;
}

bool unlimited(const std::string& folder) {
  constexpr std::string_view limits[] = {"memory.max", "memory.high", "memory.swap.max"};
  return std::ranges::all_of(limits, [&](std::string_view name) {
    const std::string limit = line_in(folder + "/" + std::string(name));
    return limit.empty() || limit == "max";
  });
}

}  // namespace

const char* peak_file(const Cgroup& cgroup) { return cgroup.v1 ? v1_peak : v2_peak; }

std::optional<Cgroup> cgroup_of(const std::string& root, const std::string& membership) {
  std::istringstream lines(membership);
  std::optional<Cgroup> out;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") out = counted(root, path, false);
    if (controllers.find(",memory,") != std::string::npos) return counted(root + "/memory", path, true);
  }
  return out;
}

std::optional<Cgroup> cgroup_of_this_process() {
  std::ostringstream membership;
  membership << std::ifstream("/proc/self/cgroup").rdbuf();
  return cgroup_of("/sys/fs/cgroup", membership.str());
}

CgroupMemory memory_of(const Cgroup& cgroup) {
  return {parse_integer(line_in(cgroup.folder + "/" + peak_file(cgroup))),
          stat_in(cgroup.folder, cgroup.v1 ? "total_cache" : "file")};
}

std::string folder_for_own(const std::string& root, const Cgroup& cgroup) {
  if (cgroup.v1) return line_in(cgroup.folder + "/memory.use_hierarchy") == "1" ? cgroup.folder : "";
  if (passes_memory_on(cgroup.folder)) return cgroup.folder;
  const std::string above = cgroup.folder.substr(0, cgroup.folder.rfind('/'));
  return cgroup.folder != root && passes_memory_on(above) && unlimited(cgroup.folder) ? above : "";
}

}  // namespace oomplan::measure
