#include "cells.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "canonical.hpp"

namespace oomplan::measure {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_from(std::string_view text, std::size_t at) {
  while (at < text.size() && digit(text[at])) ++at;
  return at;
}

/// JSON's grammar, so that 007 and 1. stay text.
bool is_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t begin = at;
  at = digits_from(text, at);
  if (at == begin || (text[begin] == '0' && at > begin + 1)) return false;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = digits_from(text, at + 1);
    if (end == at + 1) return false;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t end = digits_from(text, at);
    if (end == at) return false;
    at = end;
  }
  return at == text.size();
}

template <class T>
bool parsed(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The first \n, or \r that none follows, from `from` on; text.size() where it is not known yet. In steps, since of the
/// two one may be nowhere in the file.
std::size_t line_end(std::string_view text, std::size_t from) {
  for (std::size_t step = 256; from < text.size(); from += step, step *= 2) {
    const std::string_view piece = text.substr(from, step);
    const std::size_t feed = std::min(piece.find('\n'), piece.size());
    const std::size_t carriage = piece.substr(0, feed).find('\r');
    if (carriage == std::string_view::npos) {
      if (feed < piece.size()) return from + feed;
      continue;
    }
    const std::size_t next = from + carriage + 1;
    return next == text.size() || text[next] == '\n' ? next : next - 1;
  }
  return text.size();
}

bool one_of(std::string_view text, std::string_view a, std::string_view b, std::string_view c) {
  return text == a || text == b || text == c;
}

}  // namespace

std::size_t CellsBoundary::end_of(std::string_view text, std::size_t from) {
  // Whether a \r was alone shows in what follows it.
  if (returned_ && from < text.size()) return text[from] == '\n' ? from : from - 1;
  std::size_t end = 0;  // of the line, from where it was looked for; it may turn out to be in quotes
  for (std::size_t at = from;; ++at) {
    if (quoted_) {
      at = text.find('"', at);
      if (at == std::string_view::npos) return at;
      quoted_ = false;
      closed_ = at;
      continue;
    }
    if (end <= at) end = line_end(text, at);
    at = text.substr(0, end).find('"', at);
    if (at == std::string_view::npos) {
      returned_ = end == text.size() && end > from && text[end - 1] == '\r';
      return end < text.size() ? end : at;
    }
    // Where a cell begins, or as the second of two in a quoted one. Elsewhere it is a character like others.
    const char before = at == 0 ? '\n' : text[at - 1];
    quoted_ =
        std::string_view(",\t\n\r").find(before) != std::string_view::npos || (before == '"' && closed_ + 1 == at);
  }
}

std::size_t split_cells(std::string_view record, char separator, std::size_t most, std::vector<Cell>& cells,
                        std::string& undone) {
  cells.clear();
  undone.clear();
  undone.reserve(record.size());  // the views into it must stay
  for (std::size_t count = 1;; ++count) {
    Cell cell;
    std::size_t end = 0;
    if (record.starts_with('"')) {
      cell.quoted = true;
      const std::size_t begin = undone.size();
      for (end = 1;; end += 2) {
        const std::size_t quote = record.find('"', end);
        if (quote == std::string_view::npos) return 0;
        undone += record.substr(end, quote - end);
        end = quote;
        if (quote + 1 >= record.size() || record[quote + 1] != '"') break;
        undone += '"';
      }
      ++end;
      if (end < record.size() && record[end] != separator) return 0;
      cell.text = std::string_view(undone).substr(begin);
    } else {
      end = std::min(record.find(separator), record.size());
      cell.text = record.substr(0, end);
    }
    if (count <= most) cells.push_back(cell);
    if (end >= record.size()) return count;
    record.remove_prefix(end + 1);
  }
}

CellValue value_of(const Cell& cell) {
  if (is_null(cell)) return std::monostate{};
  if (cell.quoted) return cell.text;
  if (one_of(cell.text, "true", "True", "TRUE")) return true;
  if (one_of(cell.text, "false", "False", "FALSE")) return false;
  if (is_number(cell.text)) {
    std::int64_t whole = 0;
    std::uint64_t positive = 0;
    double number = 0;
    if (parsed(cell.text, whole)) return whole;
    if (parsed(cell.text, positive)) return positive;
    // Digits that neither holds stay as they are: a float would make others of them.
    const bool digits_only = cell.text.find_first_of(".eE") == std::string_view::npos;
    if (!digits_only && parsed(cell.text, number)) return number;
  }
  return cell.text;
}

namespace {

/// A function for each kind of value.
template <class... Functions>
struct Each : Functions... {
  using Functions::operator()...;
};
template <class... Functions>
Each(Functions...) -> Each<Functions...>;  // clang before 17 needs it

}  // namespace

void put_cell(ByteBuffer& out, const Cell& cell) {
  std::visit(
      Each{[&](std::monostate) { put_null(out); }, [&](bool value) { put_boolean(out, value); },
           [&](std::int64_t value) { put_integer(out, value); }, [&](std::uint64_t value) { put_unsigned(out, value); },
           [&](double value) { put_number(out, value); }, [&](std::string_view value) { put_text(out, value); }},
      value_of(cell));
}

void tell_cell(const Cell& cell, Values& values) {
  std::visit(Each{[&](std::monostate) { values.null(); }, [&](bool value) { values.boolean(value); },
                  [&](std::int64_t value) { values.integer(value); },
                  [&](std::uint64_t value) { values.large_integer(value); },
                  [&](double value) { values.number(value); }, [&](std::string_view value) { values.text(value); }},
             value_of(cell));
}

}  // namespace oomplan::measure
