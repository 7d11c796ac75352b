#include "request.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace oomplan::diagnose {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;

bool digit(char c) { return c >= '0' && c <= '9'; }

std::int64_t bytes_of_one(const LiveGroup& group) { return group.count > 0 ? group.bytes.count() / group.count : 0; }

}  // namespace

SizeRange range_of(const Reading& size) {
  const std::string& text = size.text;
  const double value = std::strtod(text.c_str(), nullptr);
  const std::size_t point = text.find('.');
  double step = 1;  // of the last digit
  for (std::size_t at = point; point != std::string::npos && at + 1 < text.size() && digit(text[at + 1]); ++at)
    step /= 10;
  const double bytes = static_cast<double>(size.integer);
  const double unit = value > 0 ? bytes / value : 1;
  const double half = unit < 2 ? 0 : unit * step / 2;
  return {bytes - half, bytes + half};
}

std::int64_t asked_for(std::int64_t bytes) {
  if (bytes <= mib) return 2 * mib;
  if (bytes < 10 * mib) return 20 * mib;
  return saturating_mul(divided_up(bytes, 2 * mib), 2 * mib);
}

std::vector<Match> matches_of(const Reading& requested, const std::vector<LiveGroup>& allocations,
                              std::optional<Phase> phase) {
  const SizeRange range = range_of(requested);
  std::vector<Match> out;
  for (const LiveGroup& group : allocations) {
    const std::int64_t bytes = bytes_of_one(group);
    if (bytes > 0 && (range.holds(bytes) || range.holds(asked_for(bytes))))
      out.push_back({group, bytes, phase == group.born});
  }
  const auto rank = [&](const Match& m) { return std::tuple(!m.same_phase, !range.holds(m.bytes), -m.tensors.count); };
  std::ranges::stable_sort(out, {}, rank);
  return out;
}

}  // namespace oomplan::diagnose
