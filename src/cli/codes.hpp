// Every diagnostic code, what it means and how it ends the program.
#pragma once

#include <span>
#include <string_view>

#include "oomplan/report/report.hpp"

namespace oomplan::cli {

struct CodeRow {
  std::string_view code{};
  Verdict verdict = Verdict::invalid;  ///< Where the diagnostic is an error; `answered` for one that only warns.
  std::string_view text{};             ///< One paragraph: what it means and what to do.
};

/// Sorted by code.
std::span<const CodeRow> code_rows();

const CodeRow* find_code(std::string_view code);

/// How errors end the program: usage before invalid input before "cannot be decided". `answered` where none is an
/// error.
Verdict verdict_of(const Diagnostics& diagnostics);

}  // namespace oomplan::cli
