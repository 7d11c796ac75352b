// What a log shows of the run's end where it names no failure.
#pragma once

#include <vector>

#include "case.hpp"
#include "oomplan/diagnose/evidence.hpp"

namespace oomplan::diagnose {

/// The last line with text, its time, the last step, the exit code or signal, the last error.
std::vector<Shown> shown_end(const Case& c);

}  // namespace oomplan::diagnose
