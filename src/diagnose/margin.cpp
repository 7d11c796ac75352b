#include <algorithm>
#include <cstdint>

#include "oomplan/core/text.hpp"
#include "unwrap.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t fewest_lines = 2;

struct Number {
  std::int64_t value = -1;  ///< -1 for none.
  std::size_t size = 0;     ///< Of the margin.
};

bool digit(char c) { return c >= '0' && c <= '9'; }

// "    12\t", "12:", "12-" of grep's context, and the same after "train.log:".
Number number_of(std::string_view line) {
  std::size_t at = std::min(line.find_first_not_of(' '), line.size());
  if (at == 0) {
    const std::size_t colon = line.substr(0, 120).find(':');
    const bool named = colon != std::string_view::npos && colon > 2 && colon + 1 < line.size() &&
                       digit(line[colon + 1]) &&
                       line.substr(0, colon).find_first_of(" \"'([{") == std::string_view::npos &&
                       line.substr(0, colon).find('.') != std::string_view::npos;
    if (named) at = colon + 1;
  }
  std::size_t end = at;
  while (end < line.size() && end < at + 10 && digit(line[end])) ++end;
  if (end == at || end >= line.size() || std::string_view(":-\t").find(line[end]) == std::string_view::npos) return {};
  return {parse_integer(line.substr(at, end - at)).value_or(-1), end + 1};
}

// Numbers that only ever rise count lines; ranks come again.
std::vector<std::size_t> numbered(const std::vector<std::string_view>& lines) {
  std::vector<std::size_t> out;
  std::int64_t last = -1;
  for (const std::string_view line : lines) {
    const Number number = number_of(line);
    if (number.value <= last) return {};
    last = number.value;
    out.push_back(number.size);
  }
  return out;
}

bool all_begin_with(const std::vector<std::string_view>& lines, std::string_view sign) {
  return std::all_of(lines.begin(), lines.end(), [&](std::string_view line) { return line.starts_with(sign); });
}

}  // namespace

std::vector<std::size_t> margins_of(const std::vector<std::string_view>& lines) {
  std::vector<std::size_t> none(lines.size(), 0);
  if (lines.size() < fewest_lines) return none;
  for (const std::string_view sign : {"+", "#>"})  // diff; what R's reprex prints
    if (all_begin_with(lines, sign)) return std::vector<std::size_t>(lines.size(), sign.size());
  const std::vector<std::size_t> numbers = numbered(lines);
  return numbers.empty() ? none : numbers;
}

}  // namespace oomplan::diagnose
