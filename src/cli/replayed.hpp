// Event lists from a command line, played under every setting in one pass over each.
#pragma once

#include <string>
#include <vector>

#include "oomplan/report/replay.hpp"

namespace oomplan::cli {

struct ReplayQuestion {
  std::vector<std::string> lists{};        ///< Paths, or "-" for standard input.
  std::vector<std::string> alloc_confs{};  ///< "default" and "" are PyTorch's default; so is none at all.
  std::string capacity{};                  ///< "24GiB"; "" is a card without limit.
  std::string context{};
  bool ascending = false;  ///< New segments lie above the last, not below it.
};

/// Goes as far as it can; what stopped it is in the diagnostics.
Replay replayed(const ReplayQuestion& question);

}  // namespace oomplan::cli
