#include "json_line.hpp"

#include <array>

namespace oomplan::diagnose {
namespace {

constexpr std::array<std::string_view, 6> keys{
    "\"log\":", "\"message\":", "\"MESSAGE\":", "\"msg\":", "\"text\":", "\"textPayload\":"};

unsigned hex(std::string_view digits) {
  unsigned out = 0;
  for (const char c : digits) {
    const unsigned digit =
        c >= '0' && c <= '9' ? static_cast<unsigned>(c - '0') : (static_cast<unsigned>(c | 0x20) - 'a' + 10);
    out = out * 16 + (digit & 15U);
  }
  return out;
}

void put_utf8(unsigned code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
    case 'f':
      return ' ';
    default:
      return c;
  }
}

// The string that begins after a quote; an end that is missing is the line's.
std::string string_at(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out += text[at];
    } else if (text[++at] == 'u' && at + 4 < text.size()) {
      put_utf8(hex(text.substr(at + 1, 4)), out);
      at += 4;
    } else {
      out += unescaped(text[at]);
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> message_of_json(std::string_view line) {
  if (!line.starts_with('{')) return std::nullopt;
  for (const std::string_view key : keys) {
    std::size_t at = line.find(key);
    if (at == std::string_view::npos) continue;
    at = line.find_first_not_of(' ', at + key.size());
    if (at == std::string_view::npos || line[at] != '"') continue;
    return string_at(line.substr(at + 1));
  }
  return std::nullopt;
}

}  // namespace oomplan::diagnose
