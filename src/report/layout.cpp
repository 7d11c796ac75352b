#include "layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

std::string wrapped(std::string_view text, std::size_t at, std::size_t indent) {
  std::string out;
  bool first = true;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (!first && at + 1 + width_of(word) > page_width) {
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
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace oomplan::report
