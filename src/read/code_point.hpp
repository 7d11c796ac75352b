// A character of Unicode by its number.
#pragma once

#include <cstdint>
#include <string>

namespace oomplan::read {

/// True where no text can have it: a surrogate, or past the last.
inline bool is_no_character(std::uint32_t code) { return code > 0x10FFFF || (code >= 0xD800 && code < 0xE000); }

inline void append_utf8(std::uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  const unsigned trail = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  const std::uint32_t lead = trail == 1 ? 0xC0 : trail == 2 ? 0xE0 : 0xF0;
  out += static_cast<char>(lead | code >> (6 * trail));
  for (unsigned i = trail; i-- > 0;) out += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

}  // namespace oomplan::read
