#include "process.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "oomplan/core/text.hpp"

namespace oomplan::measure {
namespace {

/// "VmHWM:     18524 kB" as bytes.
std::int64_t kibibytes(std::string_view line) {
  const std::size_t begin = line.find_first_of("0123456789");
  if (begin == std::string_view::npos) return 0;
  const std::size_t end = line.find_first_not_of("0123456789", begin);
  const auto number = parse_integer(line.substr(begin, end == std::string_view::npos ? end : end - begin));
  return number ? saturating_mul(*number, 1024) : 0;
}

}  // namespace

ProcessMemory memory_of(const std::string& pid) {
  ProcessMemory out;
  std::ifstream status("/proc/" + pid + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) out.rss = kibibytes(line);
    if (line.starts_with("VmHWM:")) out.peak_rss = kibibytes(line);
    if (line.starts_with("RssAnon:")) out.anonymous = kibibytes(line);
    if (line.starts_with("RssFile:")) out.file = kibibytes(line);
    if (line.starts_with("RssShmem:")) out.shared = kibibytes(line);
  }
  return out;
}

ProportionalMemory proportional_of(const std::string& pid) {
  ProportionalMemory out;
  std::ifstream rollup("/proc/" + pid + "/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with("Pss:")) out.total = kibibytes(line);
    if (line.starts_with("Pss_Anon:")) out.anonymous = kibibytes(line);
    if (line.starts_with("Pss_Shmem:")) out.shared = kibibytes(line);
  }
  return out;
}

// The kernel lists the children of each thread, so no other process is looked at.
std::vector<int> process_tree(int root) {
  std::vector<int> out{root};
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::error_code error;
    const std::filesystem::path tasks = "/proc/" + std::to_string(out[i]) + "/task";
    for (auto task = std::filesystem::directory_iterator(tasks, error);
         !error && task != std::filesystem::directory_iterator(); task.increment(error)) {
      std::ifstream children(task->path() / "children");
      for (int child = 0; children >> child;) out.push_back(child);
    }
  }
  return out;
}

}  // namespace oomplan::measure
