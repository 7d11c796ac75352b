#include "escapes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

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

std::string utf8(std::uint32_t code) {
  const auto tail = [&](unsigned shift) { return static_cast<char>(0x80U | (code >> shift & 0x3FU)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xC0U | code >> 6U), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xE0U | code >> 12U), tail(6), tail(0)};
  return {static_cast<char>(0xF0U | (code >> 18U & 7U)), tail(12), tail(6), tail(0)};
}

struct Escape {
  std::string text{};
  std::size_t size = 0;  ///< With its backslash; 0 for none.
};

Escape code_escape(std::string_view text, std::size_t digits, bool is_byte) {
  const auto code = hex(text.substr(2), digits);
  if (!code || *code > 0x10FFFF) return {};
  return {is_byte ? std::string(1, static_cast<char>(*code)) : utf8(*code), digits + 2};
}

// The escape that `text` begins with; what JSON and repr write, and nothing else.
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
      return code_escape(text, 4, false);
    case 'U':
      return code_escape(text, 8, false);
    case 'x':
      return code_escape(text, 2, true);
    default:
      return {};
  }
}

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
  return {utf8(code), end + 1};
}

// rsyslog writes a control character as # and three octal digits; after a word, "#012" is the number of an issue.
Escape octal_escape(std::string_view text) {
  if (!text.starts_with("#01")) return {};
  const bool longer = text.size() > 4 && digit(text[4]) && !(text.size() > 5 && text[4] == '0');
  if (text.size() < 4 || longer) return {};
  if (text[3] == '2') return {"\n", 4};
  if (text[3] == '1') return {" ", 4};
  return text[3] == '5' ? Escape{"\r", 4} : Escape{};
}

Escape entity_at(std::string_view text) {
  for (const Entity& entity : entities)
    if (text.starts_with(entity.name)) return {std::string(entity.text), entity.name.size()};
  const Escape numbered = numbered_entity(text);
  return numbered.size > 0 ? numbered : octal_escape(text);
}

template <class At>
Mapped replaced(const Mapped& text, std::string_view begins, At at) {
  Mapped out;
  const std::string_view all = text.text;
  for (std::size_t i = 0; i < all.size();) {
    const Escape found = begins.find(all[i]) == std::string_view::npos ? Escape{} : at(all.substr(i));
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
  bool line_end = false;
  for (std::size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at)) {
    const Escape escape = escape_at(text.substr(at));
    const bool cut = escape.size == 0 && at + 10 >= text.size();  // a line cut within its last escape
    if ((escape.size == 0 && !cut) || begins_path(text, at)) return false;
    const char what = at + 1 < text.size() ? text[at + 1] : ' ';
    line_end = line_end || what == 'n' || what == '\\' || what == 'u';
    at += std::max<std::size_t>(escape.size, 1);
  }
  return line_end;
}

Mapped unescaped(const Mapped& text) { return replaced(text, "\\", escape_at); }

bool has_entities(std::string_view text) {
  for (std::size_t at = text.find_first_of("&<#"); at != std::string_view::npos; at = text.find_first_of("&<#", at + 1))
    if (entity_at(text.substr(at)).size > 0) return true;
  return false;
}

Mapped without_entities(const Mapped& text) { return replaced(text, "&<#", entity_at); }

}  // namespace oomplan::diagnose
