// The option --headroom, which several commands take.
#pragma once

#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/estimate/weigh.hpp"

namespace oomplan::cli {

inline Diagnostic bad_headroom(const std::string& text) {
  return {.code = "cli/bad-size",
          .message = "--headroom takes a percentage, not '" + text + "'",
          .hint = std::string(headroom_hint)};
}

}  // namespace oomplan::cli
