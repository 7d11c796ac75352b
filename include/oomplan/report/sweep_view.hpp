// A sweep on paper.
#pragma once

#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/survey/sweep.hpp"

namespace oomplan {

struct SweepViewOptions {
  bool colour = false;        ///< Escape sequences for a terminal.
  bool verdict_only = false;  ///< The largest that fits, and how many do.
};

/// For people: the largest that fits, the frontier, and the grid as a table where it is not too long.
std::string sweep_text(const Sweep& sweep, const SweepViewOptions& options = {});

/// One line a point, below a line of names; sizes in bytes (RFC 4180).
std::string sweep_csv(const Sweep& sweep);

/// One JSON object as docs/sweep.schema.json has it.
std::string sweep_json(const Sweep& sweep);

/// The same where there is no answer, for what `problems` say.
std::string sweep_json(const std::string& config, const Diagnostics& problems);

}  // namespace oomplan
