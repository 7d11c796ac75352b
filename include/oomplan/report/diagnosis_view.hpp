// A diagnosis on paper.
#pragma once

#include <cstddef>
#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "oomplan/report/report.hpp"

namespace oomplan {

struct DiagnosisViewOptions {
  bool colour = false;              ///< Escape sequences for a terminal.
  std::size_t width = usual_width;  ///< Columns of text; commands are never broken.
  bool breaks = false;              ///< The verdict and the line that it quotes go on within the columns too.
};

/// For people: the verdict in one line, then why, what to do, and what not to. Empty sections are left out.
std::string diagnosis_text(const Diagnosis& diagnosis, const DiagnosisViewOptions& options = {});

/// One JSON object as docs/diagnosis.schema.json has it. `problems` are what went wrong while reading.
std::string diagnosis_json(const Diagnosis& diagnosis, const Diagnostics& problems = {});

}  // namespace oomplan
