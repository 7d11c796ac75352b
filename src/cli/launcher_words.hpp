// The words of a command before the script: what starts its processes, and how many.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "oomplan/core/result.hpp"
#include "oomplan/ingest/ingest.hpp"

namespace oomplan::cli {

struct LauncherWords {
  std::size_t script = 0;             ///< The index of the script, module or program among the words.
  bool is_module = false;             ///< Of `-m`.
  std::vector<std::string> launch{};  ///< accelerate's --config_file.
  std::string config{};               ///< What its other options would be in such a file; "" where they say nothing.
  NamedWorld world{};                 ///< 0 where nothing says how many.
};

/// Error, cli/usage: an option that may change what a rank holds, or none that the launcher has; no script.
Result<LauncherWords> read_launcher(const std::vector<std::string>& words);

}  // namespace oomplan::cli
