// A character of Unicode by its number: written as UTF-8, and joined from the two halves that UTF-16 makes of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace oomplan {

/// True where no text can have it: a surrogate, or past the last.
inline bool is_no_character(std::uint32_t code) { return code > 0x10FFFF || (code >= 0xD800 && code < 0xE000); }

inline bool is_high_surrogate(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }

/// The character whose halves in UTF-16 these are; nothing where they are not two halves of one.
inline std::optional<std::uint32_t> joined_surrogates(std::uint32_t high, std::uint32_t low) {
  if (!is_high_surrogate(high) || low < 0xDC00 || low >= 0xE000) return std::nullopt;
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

/// Adds the character to `out`; U+FFFD in place of what is none.
inline void append_utf8(std::uint32_t code, std::string& out) {
  if (is_no_character(code)) code = 0xFFFD;
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const unsigned trail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const std::uint32_t lead = trail == 1 ? 0xC0 : trail == 2 ? 0xE0 : 0xF0;
  out += static_cast<char>(lead | code >> (6 * trail));
  for (unsigned i = trail; i-- > 0;) out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

}  // namespace oomplan
