#include "cgroup.hpp"

#include <fstream>
#include <sstream>
#include <string_view>

#include "oomplan/text.hpp"

namespace oomplan::measure {
namespace {

std::optional<std::int64_t> number_in(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  return std::getline(file, line) ? parse_integer(line) : std::nullopt;
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
std::string existing(const std::string& root, const std::string& path, const char* file) {
  return std::ifstream(root + path + "/" + file).good() ? root + path : root;
}

}  // namespace

CgroupMemory cgroup_memory(const std::string& root, const std::string& membership) {
  std::istringstream lines(membership);
  CgroupMemory out;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      const std::string folder = existing(root, path, "memory.peak");
      out = {number_in(folder + "/memory.peak"), stat_in(folder, "file")};
    } else if (controllers.find(",memory,") != std::string::npos) {
      const std::string folder = existing(root + "/memory", path, "memory.max_usage_in_bytes");
      return {number_in(folder + "/memory.max_usage_in_bytes"), stat_in(folder, "total_cache")};
    }
  }
  return out;
}

CgroupMemory cgroup_memory() {
  std::ostringstream membership;
  membership << std::ifstream("/proc/self/cgroup").rdbuf();
  return cgroup_memory("/sys/fs/cgroup", membership.str());
}

}  // namespace oomplan::measure
