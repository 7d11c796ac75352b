#include "unwrap.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace oomplan::diagnose {
namespace {

constexpr std::size_t narrowest = 60;
constexpr int most_joined = 60;

struct Column {
  std::size_t width = 0;
  int lines = 0;  ///< That end there.
};

// The column at which each file's lines end, if they do.
std::map<int, Column> columns_of(const std::vector<Line>& lines) {
  std::map<int, Column> out;
  for (const Line& line : lines) {
    Column& column = out[line.file];
    if (line.width > column.width) column = {line.width, 0};
    if (line.width == column.width) ++column.lines;
  }
  std::erase_if(out, [](const auto& entry) { return entry.second.width < narrowest || entry.second.lines < 2; });
  return out;
}

bool speaks_for_itself(const Line& line) {
  constexpr auto beginnings = std::to_array<std::string_view>({"File \"", "Traceback (", "|", "+-", "##"});
  std::string_view text = line.body;
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return line.prefixed || text.empty() ||
         std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return text.starts_with(b); });
}

// Rows of a table end at one column as well, and so do lines that say the same over and over (is_same_bar).
bool is_row(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first != std::string_view::npos && text.substr(first).find("   ") != std::string_view::npos;
}

// But for their numbers: " 10/5000 [>....] - ETA", " 11/5000 [>....] - ETA".
bool is_same_bar(std::string_view a, std::string_view b) {
  constexpr std::size_t beginning = 10;
  if (a.size() < beginning || b.size() < beginning) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < beginning; ++i)
    if (a[i] != b[i] && !(is_digit(a[i]) && is_digit(b[i]))) return false;
  return true;
}

bool goes_on(const Line& line, const Line& next, std::size_t width) {
  return line.width == width && next.file == line.file && next.number == line.number + 1 && !next.header &&
         !speaks_for_itself(next) && !is_row(line.body) && !is_same_bar(line.body, next.body);
}

}  // namespace

void unwrap(std::vector<Line>& lines) {
  const std::map<int, Column> columns = columns_of(lines);
  if (columns.empty()) return;
  std::vector<Line> out;
  out.reserve(lines.size());
  for (std::size_t at = 0; at < lines.size(); ++at) {
    out.push_back(std::move(lines[at]));
    const auto column = columns.find(out.back().file);
    if (column == columns.end() || out.back().width != column->second.width) continue;
    Line last = {.body = out.back().body, .file = out.back().file, .number = out.back().number};
    last.width = out.back().width;
    for (int joined = 0; joined < most_joined && at + 1 < lines.size(); ++joined) {
      if (!goes_on(last, lines[at + 1], column->second.width)) break;
      Line& next = lines[++at];
      last = {.body = next.body, .file = next.file, .number = next.number};
      last.width = next.width;
      out.back().body += '\n';  // may stand anywhere in a sentence
      out.back().body += next.body;
      out.back().shown.clear();
    }
  }
  lines = std::move(out);
}

}  // namespace oomplan::diagnose
