// The option --headroom, which several commands take.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "oomplan/result.hpp"
#include "oomplan/text.hpp"

namespace oomplan::cli {

/// "5%" or "5": per cent, as a part of 1.
inline std::optional<double> part_of(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  const std::optional<double> percent = parse_number(text);
  return percent && *percent >= 0 && *percent < 100 ? std::optional(*percent / 100) : std::nullopt;
}

inline Diagnostic bad_headroom(const std::string& text) {
  return {.code = "cli/bad-size", .message = "--headroom takes a percentage, not '" + text + "'"};
}

}  // namespace oomplan::cli
