// Which launcher ran the job, and what to ask it where the log does not say how the job ended.
#pragma once

#include <string>
#include <vector>

#include "case.hpp"
#include "rules.hpp"

namespace oomplan::diagnose {

/// Commands, with the names of job, pod or host where the log has them.
std::vector<std::string> questions(const Rules& rules, const Case& c);

}  // namespace oomplan::diagnose
