#include "layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace oomplan::report {
namespace {

std::string_view escape_of(Paint paint) {
  constexpr std::array<std::string_view, 5> escapes{"", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[1;32m"};
  return escapes.at(static_cast<std::size_t>(paint));
}

std::vector<std::size_t> widths_of(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    if (row.size() > widths.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i].text));
  }
  return widths;
}

std::string padded(const Cell& cell, std::size_t width, bool last) {
  const std::string blanks(width - width_of(cell.text), ' ');
  if (cell.right) return blanks + cell.text;
  return last ? cell.text : cell.text + blanks;
}

std::string line_of(const Row& row, const std::vector<std::size_t>& widths, bool colour) {
  std::string line;
  std::size_t end = row.size();
  while (end > 0 && row[end - 1].text.empty()) --end;
  for (std::size_t i = 0; i < end; ++i) {
    line += "  " + painted(padded(row[i], widths[i], i + 1 == end), row[i].paint, colour);
  }
  return line + "\n";
}

/// A number keeps its unit.
bool is_unit(std::string_view rest) {
  constexpr std::array<std::string_view, 5> units{"GiB", "MiB", "KiB", "TiB", "%"};
  return std::ranges::any_of(units, [&](std::string_view unit) { return rest.starts_with(unit); });
}

std::size_t end_of_word(std::string_view text) {
  std::size_t blank = std::min(text.find(' '), text.size());
  const bool number =
      blank > 0 && blank < text.size() && std::isdigit(static_cast<unsigned char>(text[blank - 1])) != 0;
  if (number && is_unit(text.substr(blank + 1))) blank = std::min(text.find(' ', blank + 1), text.size());
  return blank;
}

std::size_t sum_of(const std::vector<std::size_t>& widths, std::size_t from, std::size_t to) {
  std::size_t out = 0;
  for (std::size_t i = from; i < to; ++i) out += 2 + widths[i];
  return out;
}

/// The first column, and those from `from` to `to`.
std::vector<Row> columns_of(const std::vector<Row>& rows, std::size_t from, std::size_t to) {
  std::vector<Row> out;
  for (const Row& row : rows) {
    Row part{row.empty() ? Cell{} : row.front()};
    for (std::size_t i = from; i < std::min(to, row.size()); ++i) part.push_back(row[i]);
    out.push_back(std::move(part));
  }
  return out;
}

}  // namespace

std::string painted(std::string text, Paint paint, bool colour) {
  if (!colour || paint == Paint::plain || text.empty()) return text;
  return fmt::format("{}{}\x1b[0m", escape_of(paint), text);
}

Unit unit_for(Bytes largest) {
  constexpr std::array<Unit, 4> units{{{"GiB", 1024.0 * 1024 * 1024}, {"MiB", 1024.0 * 1024}, {"KiB", 1024}, {"B", 1}}};
  const double bytes = static_cast<double>(largest.count());
  const auto* unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return bytes >= u.bytes; });
  return unit == units.end() ? units.back() : *unit;
}

std::string in_unit(Bytes bytes, const Unit& unit) {
  if (bytes.count() == 0) return "-";
  return fmt::format("{:.{}f}", static_cast<double>(bytes.count()) / unit.bytes, unit.bytes > 1 ? 2 : 0);
}

std::string aligned(const std::vector<Row>& rows, bool colour) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string out;
  for (const Row& row : rows) out += line_of(row, widths, colour);
  return out;
}

std::string aligned_within(const std::vector<Row>& rows, bool colour, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(rows);
  if (widths.empty() || sum_of(widths, 0, widths.size()) <= width) return aligned(rows, colour);
  std::string out;
  for (std::size_t from = 1; from < widths.size();) {
    std::size_t to = from + 1;
    while (to < widths.size() && 2 + widths[0] + sum_of(widths, from, to + 1) <= width) ++to;
    out += (out.empty() ? "" : "\n") + aligned(columns_of(rows, from, to), colour);
    from = to;
  }
  return out;
}

std::string folded(const std::vector<Row>& rows, bool colour, std::size_t width) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::size_t columns = widths.size();
  while (columns > 1 && sum_of(widths, 0, columns) > width) --columns;
  const std::string table = aligned(columns_of(rows, 1, columns), colour);
  const std::size_t indent = widths.empty() ? 0 : 2 + widths.front() + 2;
  std::string out;
  std::size_t at = 0;
  for (const Row& row : rows) {
    const std::size_t end = table.find('\n', at) + 1;
    out += table.substr(at, end - at);
    at = end;
    std::string rest;
    for (std::size_t i = columns; i < row.size(); ++i) rest += (rest.empty() ? "" : "  ") + row[i].text;
    if (!rest.empty()) out += std::string(indent, ' ') + wrapped(rest, indent, indent, width) + "\n";
  }
  return out;
}

std::string wrapped(std::string_view text, std::size_t at, std::size_t indent, std::size_t width) {
  std::string out;
  bool first = true;
  while (!text.empty()) {
    const std::size_t blank = end_of_word(text);
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (!first && at + 1 + width_of(word) > width) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (!first) {
      out += ' ';
      ++at;
    }
    out += word;
    at += width_of(word);
    first = false;
  }
  return out;
}

std::size_t width_of(std::string_view text) {
  std::size_t out = 0;
  bool escape = false;
  for (const char c : text) {
    const bool shown = !escape && c != '\x1b' && (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    escape = c == '\x1b' || (escape && c != 'm');
    out += shown ? 1 : 0;
  }
  return out;
}

}  // namespace oomplan::report
