#include "format.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "cells.hpp"
#include "oomplan/core/text.hpp"

namespace oomplan::measure {
namespace {

constexpr auto rows = std::to_array<Format>({
    {"arrow", sources::arrow_ipc},
    {"csv", sources::csv},
    {"json-array", sources::json_array},
    {"json-lines", sources::json_lines},
    {"opaque", sources::opaque},
    {"parquet", sources::parquet},
    {"tar", sources::tar},
    {"text", sources::text},
});

constexpr std::string_view white = " \t\r\n";

bool is_arrow(std::string_view begun) {
  return begun.starts_with("ARROW1") || begun.starts_with(std::string_view("\xff\xff\xff\xff", 4));
}

bool is_tar(std::string_view begun) { return begun.size() >= 512 && begun.substr(257, 5) == "ustar"; }

/// Text in whole: no zero bytes, and UTF-8 but for a character that the end of the piece cut.
bool is_text(std::string_view begun) {
  return begun.find('\0') == std::string_view::npos && valid_utf8(begun) + 4 > begun.size();
}

/// The widths of the whole records in the piece, in cells.
std::vector<std::size_t> widths(std::string_view text, char separator) {
  std::vector<std::size_t> out;
  std::vector<Cell> cells;
  std::string undone;
  while (!text.empty()) {
    CellsBoundary boundary;
    const std::size_t end = boundary.end_of(text, 0);
    if (end == std::string_view::npos && !out.empty() && text.size() > sniff_length / 2) break;  // cut by the sniffing
    std::string_view record = text.substr(0, end);
    text.remove_prefix(std::min(record.size() + 1, text.size()));
    if (record.ends_with('\r')) record.remove_suffix(1);
    if (record.empty()) continue;
    out.push_back(split_cells(record, separator, 0, cells, undone));
  }
  return out;
}

/// At least two records of the same two or more cells, and nearly all: the others are bad rows. In a file that is
/// `named` as a table half of them are enough, and it may be a record alone, or records of one cell.
bool is_table(std::string_view begun, char separator, bool named) {
  std::vector<std::size_t> found = widths(begun, separator);
  if (begun.size() >= sniff_length && found.size() > 2) found.pop_back();  // it may be cut by the sniffing
  if (found.empty()) return false;
  const auto alike = static_cast<std::size_t>(std::ranges::count(found, found.front()));
  if (found.front() < 2) return named && separator == ',' && alike == found.size();
  if (named) return 2 * alike >= found.size();
  return alike >= 2 && 10 * alike >= 9 * found.size();
}

/// Also where a row has a bad byte: a binary file may well begin with a bracket, but hardly with what follows it.
bool is_json(std::string_view text, char bracket, std::string_view behind) {
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos || text[first] != bracket) return false;
  if (is_text(text)) return true;
  const std::size_t second = text.find_first_not_of(white, first + 1);
  return second != std::string_view::npos && behind.find(text[second]) != std::string_view::npos;
}

bool named_as_table(std::string_view path) {
  const std::string end = lowered(path.substr(path.size() - std::min<std::size_t>(path.size(), 8)));
  std::string_view name = end;
  for (const std::string_view packed : {".gz", ".zst", ".bz2", ".xz"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name.ends_with(".csv") || name.ends_with(".tsv");
}

std::string_view name_of(std::string_view begun, std::string_view path) {
  if (begun.starts_with("PAR1") || begun.starts_with("PARE")) return "parquet";
  if (is_arrow(begun)) return "arrow";
  if (is_tar(begun)) return "tar";
  if (begun.starts_with("\xEF\xBB\xBF")) begun.remove_prefix(3);
  if (is_json(begun, '{', "\"}")) return "json-lines";
  if (is_json(begun, '[', "{[\"]-0123456789tfn")) return "json-array";
  if (!is_text(begun)) return "";
  const bool named = named_as_table(path);
  return is_table(begun, ',', named) || is_table(begun, '\t', named) ? "csv" : "text";
}

}  // namespace

std::span<const Format> formats() { return rows; }

const Format* find_format(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &Format::name);
  return found == rows.end() ? nullptr : &*found;
}

const Format* sniffed(std::string_view begun, std::string_view path) { return find_format(name_of(begun, path)); }

Result<const Format*> sniffed(std::unique_ptr<read::ByteSource>& bytes, std::string_view path) {
  Result<std::string> begun = read::first_bytes(*bytes, sniff_length);
  if (!begun) return begun.errors();
  const Format* format = sniffed(*begun, path);
  bytes = read::put_back(std::move(bytes), std::move(*begun));
  return format;
}

}  // namespace oomplan::measure
