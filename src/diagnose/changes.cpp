#include "changes.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan::diagnose {
namespace {

constexpr std::size_t most_lines = 400;

/// Of "@@ -12,7 +12,9 @@": 7 lines of the old text, 9 of the new.
struct Hunk {
  std::int64_t old_lines = 1;
  std::int64_t new_lines = 1;
};

std::optional<std::int64_t> lines_in(std::string_view range) {
  const std::size_t comma = range.find(',');
  return comma == range.npos ? 1 : parse_integer(range.substr(comma + 1));
}

std::optional<Hunk> hunk_of(std::string_view text) {
  constexpr std::string_view begin = "@@ -";
  const std::size_t plus = text.find(" +");
  const std::size_t end = text.find(" @@", begin.size());
  if (!text.starts_with(begin) || plus == text.npos || end == text.npos || plus > end) return std::nullopt;
  const auto old_lines = lines_in(text.substr(begin.size(), plus - begin.size()));
  const auto new_lines = lines_in(text.substr(plus + 2, end - plus - 2));
  if (!old_lines || !new_lines) return std::nullopt;
  return Hunk{*old_lines, *new_lines};
}

// What of the hunk at line `head` is left before line `index`.
bool reaches(Hunk hunk, const std::vector<Line>& lines, std::size_t head, std::size_t index) {
  for (std::size_t i = head + 1; i < index; ++i) {
    const char sign = lines[i].body.empty() ? ' ' : lines[i].body.front();
    if (sign == ' ' || sign == '-') --hunk.old_lines;
    if (sign == ' ' || sign == '+') --hunk.new_lines;
  }
  return hunk.old_lines > 0 || hunk.new_lines > 0;
}

bool may_be_of_hunk(std::string_view text) {
  return text.empty() || std::string_view("+- \\").find(text.front()) != std::string_view::npos;
}

bool is_indented(std::string_view text) { return text.empty() || text.starts_with("    "); }

}  // namespace

bool stands_in_change(const std::vector<Line>& lines, std::size_t index) {
  bool hunk = may_be_of_hunk(lines[index].body) && !lines[index].body.empty();
  bool message = is_indented(lines[index].body) && !lines[index].body.empty();
  for (std::size_t i = index, seen = 0; i-- > 0 && (hunk || message) && seen < most_lines; ++seen) {
    const std::string_view text = lines[i].body;
    if (lines[i].file != lines[index].file || lines[i + 1].header) return false;
    if (const auto head = hunk ? hunk_of(text) : std::nullopt) return reaches(*head, lines, i, index);
    if (message && text.starts_with("Date: ") && i > 0 && lines[i - 1].body.starts_with("Author: ")) return true;
    hunk = hunk && may_be_of_hunk(text);
    message = message && is_indented(text);
  }
  return false;
}

}  // namespace oomplan::diagnose
