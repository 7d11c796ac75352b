#include "escapes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "oomplan/core/code_point.hpp"

namespace oomplan::diagnose {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

int hex_digit(char c) {
  if (digit(c)) return c - '0';
  const int lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

std::optional<std::uint32_t> hex(std::string_view text, std::size_t count) {
  if (text.size() < count) return std::nullopt;
  std::uint32_t out = 0;
  for (const char c : text.substr(0, count)) {
    const int value = hex_digit(c);
    if (value < 0) return std::nullopt;
    out = out << 4U | static_cast<std::uint32_t>(value);
  }
  return out;
}

Escape character(std::uint32_t code, std::size_t size) {
  Escape out{.size = size};
  append_utf8(code, out.text);
  return out;
}

// JSON writes what is past U+FFFF as two escapes, the halves of UTF-16.
Escape code_escape(std::string_view text, std::size_t digits) {
  const auto code = hex(text.substr(2), digits);
  if (!code || *code > 0x10FFFF) return {};
  const std::size_t size = digits + 2;
  const auto low = text.substr(size).starts_with("\\u") ? hex(text.substr(size + 2), 4) : std::nullopt;
  const auto joined = low ? joined_surrogates(*code, *low) : std::nullopt;
  return joined ? character(*joined, size + 6) : character(*code, size);
}

Escape byte_escape(std::string_view text) {
  const auto byte = hex(text.substr(2), 2);
  return byte ? Escape{std::string(1, static_cast<char>(*byte)), 4} : Escape{};
}

}  // namespace

Escape escape_at(std::string_view text) {
  if (text.size() < 2) return {};
  switch (text[1]) {
    case 'n':
      return {"\n", 2};
    case 'r':
      return {"\r", 2};
    case 't':
    case 'f':
    case 'b':
      return {" ", 2};
    case '"':
    case '\'':
    case '\\':
    case '/':
      return {std::string(1, text[1]), 2};
    case 'u':
      return code_escape(text, 4);
    case 'U':
      return code_escape(text, 8);
    case 'x':
      return byte_escape(text);
    default:
      return {};
  }
}

namespace {

// "C:\new": a drive, or a share, before a single backslash.
bool begins_path(std::string_view text, std::size_t at) {
  const bool single = at + 1 < text.size() && text[at + 1] != '\\' && text[at + 1] != '"' && text[at + 1] != '\'';
  return single && at >= 2 && text[at - 1] == ':' && alpha(text[at - 2]) && (at < 3 || !alpha(text[at - 3]));
}

struct Entity {
  std::string_view name;
  std::string_view text;
};
constexpr auto entities = std::to_array<Entity>({{"&nbsp;", " "},
                                                 {"&quot;", "\""},
                                                 {"&apos;", "'"},
                                                 {"&lt;", "<"},
                                                 {"&gt;", ">"},
                                                 {"&amp;", "&"},
                                                 {"<br>", "\n"},
                                                 {"<br/>", "\n"},
                                                 {"<br />", "\n"},
                                                 {"<BR>", "\n"}});

// "&#39;" and "&#x27;"
Escape numbered_entity(std::string_view text) {
  if (!text.starts_with("&#")) return {};
  const std::size_t end = text.substr(0, 10).find(';');
  if (end == std::string_view::npos || end < 3) return {};
  const std::string_view digits = text.substr(2, end - 2);
  std::uint32_t code = 0;
  if (digits.front() == 'x' || digits.front() == 'X') {
    const auto found = hex(digits.substr(1), digits.size() - 1);
    if (!found || digits.size() < 2) return {};
    code = *found;
  } else {
    for (const char c : digits) {
      if (!digit(c)) return {};
      code = code * 10 + static_cast<std::uint32_t>(c - '0');
    }
  }
  if (code == 0 || code > 0x10FFFF) return {};
  return character(code, end + 1);
}

// Whether what stands around "#012" is what stands around the number of an issue: a word, or the first of a line,
// before one blank, and no more than one behind it. A line that rsyslog has folded goes on there at its first letter,
// or behind the blanks that it is indented by.
bool is_number_of_issue(std::string_view text, std::size_t at) {
  constexpr std::string_view openers = " \t([";
  constexpr std::string_view closers = ".,;:!?)]";
  const std::size_t end = at + 4;
  const bool apart = at == 0 || openers.find(text[at - 1]) != std::string_view::npos;
  const bool more_digits = end < text.size() && digit(text[end]) && !text.substr(end).starts_with("0x");
  if (!apart || more_digits) return more_digits;
  if (end == text.size() || closers.find(text[end]) != std::string_view::npos) return true;
  return text[end] == ' ' && (end + 1 == text.size() || text[end + 1] != ' ');
}

// rsyslog writes a control character as # and three octal digits (runtime/parser.c), and leaves the # of a message
// itself as it is.
Escape octal_escape(std::string_view all, std::size_t at) {
  const std::string_view text = all.substr(at);
  if (!text.starts_with("#01") || text.size() < 4 || is_number_of_issue(all, at)) return {};
  if (text[3] == '2') return {"\n", 4};
  if (text[3] == '1') return {" ", 4};
  return text[3] == '5' ? Escape{"\r", 4} : Escape{};
}

Escape entity_at(std::string_view all, std::size_t at) {
  const std::string_view text = all.substr(at);
  for (const Entity& entity : entities)
    if (text.starts_with(entity.name)) return {std::string(entity.text), entity.name.size()};
  const Escape numbered = numbered_entity(text);
  return numbered.size > 0 ? numbered : octal_escape(all, at);
}

template <class At>
Mapped replaced(const Mapped& text, std::string_view begins, At at) {
  Mapped out;
  const std::string_view all = text.text;
  for (std::size_t i = 0; i < all.size();) {
    const Escape found = begins.find(all[i]) == std::string_view::npos ? Escape{} : at(all, i);
    if (found.size == 0) {
      out.put(all.substr(i, 1), text.from[i]);
      ++i;
      continue;
    }
    out.put(found.text, text.from[i]);
    i += found.size;
  }
  return out;
}

}  // namespace

void Mapped::put(std::string_view bytes, std::size_t at) {
  text += bytes;
  from.insert(from.end(), bytes.size(), at);
}

Mapped mapped(std::string_view text) {
  Mapped out{.text = std::string(text)};
  out.from.resize(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) out.from[i] = i;
  return out;
}

bool is_escaped(std::string_view text) {
  const std::size_t object = text.find("{\"");  // whose strings have their quotes escaped, if nothing else
  bool line_end = false;
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at)) {
    const Escape escape = escape_at(text.substr(at));
    const bool cut = escape.size == 0 && at + 10 >= text.size();  // a line cut within its last escape
    if ((escape.size == 0 && !cut) || begins_path(text, at)) return false;
    const char what = at + 1 < text.size() ? text[at + 1] : ' ';
    line_end = line_end || what == 'n' || what == '\\' || what == 'u' || (what == '"' && object < at);
    at += std::max<std::size_t>(escape.size, 1);
  }
  return line_end;
}

Mapped unescaped(const Mapped& text) {
  return replaced(text, "\\", [](std::string_view all, std::size_t at) { return escape_at(all.substr(at)); });
}

bool has_entities(std::string_view text) {
  for (std::size_t at = text.find_first_of("&<#"); at != std::string_view::npos; at = text.find_first_of("&<#", at + 1))
    if (entity_at(text, at).size > 0) return true;
  return false;
}

Mapped without_entities(const Mapped& text) { return replaced(text, "&<#", entity_at); }

}  // namespace oomplan::diagnose
