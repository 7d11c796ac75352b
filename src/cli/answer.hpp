// The estimate from a command line: every stage in order, and what it came to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oomplan/report.hpp"

namespace oomplan::cli {

struct Question {
  std::string config{};  ///< A path, or "-" for standard input.
  std::string dialect{};
  std::vector<std::string> overrides{};
  std::vector<std::string> gpus{};
  std::optional<Setting<std::string>> alloc_conf{};  ///< In place of the plan's own.
  std::string models{};                              ///< A directory of the user's own data files, or "".
};

/// Goes as far as it can; what stopped it is in the findings' diagnostics.
Findings answer(const Question& question);

}  // namespace oomplan::cli
