#include "process.hpp"

#include <fstream>
#include <string_view>

#include "oomplan/text.hpp"

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

std::int64_t proportional_of(const std::string& pid) {
  std::ifstream rollup("/proc/" + pid + "/smaps_rollup");
  for (std::string line; std::getline(rollup, line);) {
    if (line.starts_with("Pss:")) return kibibytes(line);
  }
  return 0;
}

}  // namespace oomplan::measure
