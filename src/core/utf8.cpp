// UTF-8 as RFC 3629 has it: what is valid, and what of it a terminal may see.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "oomplan/core/text.hpp"

namespace oomplan {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

std::size_t announced_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

bool allowed(std::uint32_t code, std::size_t length) {
  constexpr std::uint32_t first_of_length[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code >= first_of_length[length] && code <= 0x10FFFF && !surrogate;
}

Character first_character(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = announced_length(lead);
  if (length == 0 || length > text.size()) return {};
  if (length == 1) return {lead, 1};
  std::uint32_t code = lead & (0x7FU >> length);
  for (const char c : text.substr(1, length - 1)) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) return {};
    code = code << 6 | (static_cast<unsigned char>(c) & 0x3F);
  }
  return allowed(code, length) ? Character{code, length} : Character{};
}

bool drives_terminal(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
  const bool direction = (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
  return control || direction || code == 0x2028 || code == 0x2029;
}

}  // namespace

std::size_t valid_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const bool ascii = static_cast<unsigned char>(text[at]) < 0x80;
    const std::size_t length = ascii ? 1 : first_character(text.substr(at)).length;
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_character(text);
    const std::size_t length = next.length == 0 ? 1 : next.length;
    if (next.length == 0 || drives_terminal(next.code)) {
      out += '?';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace oomplan
