// Advice on paper.
#pragma once

#include <string>

#include "oomplan/advise/advice.hpp"
#include "oomplan/core/result.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan {

struct AdviceViewOptions {
  bool colour = false;              ///< Escape sequences for a terminal.
  std::size_t width = usual_width;  ///< Columns.
  bool verdict_only = false;        ///< The first line, and which fixes.
};

/// For people: the answer in one line, then the way there, what to write, and what was tried.
std::string advice_text(const Advice& advice, const AdviceViewOptions& options = {});

/// One JSON object as docs/advice.schema.json has it.
std::string advice_json(const Advice& advice);

/// The same where there is no answer, for what `problems` say.
std::string advice_json(const std::string& config, const Diagnostics& problems);

}  // namespace oomplan
