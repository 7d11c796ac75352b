// A diagnosis on paper.
#pragma once

#include <string>

#include "oomplan/core/result.hpp"
#include "oomplan/diagnose/evidence.hpp"

namespace oomplan {

struct DiagnosisViewOptions {
  bool colour = false;  ///< Escape sequences for a terminal.
};

/// For people: the verdict in one line, then why, what to do, and what not to. Empty sections are left out.
std::string diagnosis_text(const Diagnosis& diagnosis, const DiagnosisViewOptions& options = {});

/// One JSON object as docs/diagnosis.schema.json has it. `problems` are what went wrong while reading.
std::string diagnosis_json(const Diagnosis& diagnosis, const Diagnostics& problems = {});

}  // namespace oomplan
