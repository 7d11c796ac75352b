#include "yaml_place.hpp"

#include <algorithm>

namespace oomplan::read {
namespace {

constexpr std::string_view space = " \t\r\n";

bool any_of(std::string_view set, char c) { return set.find(c) != std::string_view::npos; }

std::size_t skip_space_and_comments(std::string_view text, std::size_t at) {
  at = std::min(text.find_first_not_of(space, at), text.size());
  while (at < text.size() && text[at] == '#') {
    at = std::min(text.find('\n', at), text.size());
    at = std::min(text.find_first_not_of(space, at), text.size());
  }
  return at;
}

bool opens_quote(std::string_view text, std::size_t offset) {
  return offset < text.size() && (text[offset] == '"' || text[offset] == '\'');
}

std::size_t closing_quote(std::string_view text, std::size_t offset) {
  const char quote = text[offset];
  for (std::size_t at = offset + 1; at < text.size(); ++at) {
    const bool escaped = quote == '"' ? text[at] == '\\' : text.substr(at, 2) == "''";
    if (escaped) {
      ++at;
    } else if (text[at] == quote) {
      return at;
    }
  }
  return std::string_view::npos;
}

// A ':' before space or the line's end.
bool ends_key(std::string_view line) {
  for (std::size_t at = line.find(':'); at != std::string_view::npos; at = line.find(':', at + 1)) {
    if (at + 1 == line.size() || any_of(space, line[at + 1])) return true;
  }
  return false;
}

}  // namespace

std::size_t value_offset(std::string_view text, std::size_t mark) {
  std::size_t at = mark;
  while (at < text.size() && (text[at] == '&' || text[at] == '!')) {
    at = std::min(text.find_first_of(" \t\r\n,[]{}", at), text.size());
    at = skip_space_and_comments(text, at);
  }
  return at < text.size() ? at : mark;
}

std::string_view null_word(std::string_view text, std::size_t offset) {
  text = text.substr(std::min(offset, text.size()));
  for (const std::string_view word : {"~", "null", "Null", "NULL"}) {
    const bool ends = text.size() <= word.size() || any_of(" \t\r\n,]}:", text[word.size()]);
    if (text.starts_with(word) && ends) return word;
  }
  return {};
}

std::size_t null_offset(std::string_view text, std::size_t mark) {
  const std::size_t written = value_offset(text, mark);
  if (!null_word(text, written).empty()) return written;
  if (written != mark || mark == 0) return mark;
  const std::size_t before = text.find_last_not_of(space, mark - 1);
  return before != std::string_view::npos && any_of(":-?,", text[before]) ? before + 1 : mark;
}

bool quote_stays_open(std::string_view text, std::size_t offset) {
  return opens_quote(text, offset) && closing_quote(text, offset) == std::string_view::npos;
}

bool is_explicit_key(std::string_view text, std::size_t offset) {
  const std::size_t before = offset == 0 ? std::string_view::npos : text.find_last_not_of(space, offset - 1);
  return before != std::string_view::npos && text[before] == '?';
}

bool begins_line(std::string_view text, std::size_t offset) {
  const std::size_t before = offset == 0 ? std::string_view::npos : text.find_last_not_of(" \t", offset - 1);
  return before == std::string_view::npos || text[before] == '\n';
}

bool is_marked_key(std::string_view text, std::size_t offset) {
  if (is_explicit_key(text, offset)) return true;
  const std::size_t begin = value_offset(text, offset);
  const std::size_t end = opens_quote(text, begin) ? closing_quote(text, begin) : begin;
  if (end == std::string_view::npos) return true;
  const std::string_view line = text.substr(end, text.find('\n', end) - end);
  return ends_key(line.substr(0, line.find(" #")));
}

}  // namespace oomplan::read
