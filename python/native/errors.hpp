// Our errors as Python's.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "oomplan/core/result.hpp"

namespace oomplan::python {

/// oomplan.DataError with the text that the command line prints, and the first one's code and file.
[[noreturn]] void raise(const Diagnostics& errors);

/// oomplan.SkippedRow. Throws where the program made errors of warnings.
void warn(const Diagnostic& skipped);
/// One SkippedRow for so many that were not told each.
void warn_of_more(std::int64_t count);

}  // namespace oomplan::python
