// From lines to evidence: which sentences stand in them, with what values.
#pragma once

#include <string>
#include <vector>

#include "line.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "rules.hpp"

namespace oomplan::diagnose {

/// `files` are the names of the logs, by Line::file. Evidence comes in the order of the lines.
std::vector<Evidence> read_lines(const Rules& rules, const std::vector<Line>& lines,
                                 const std::vector<std::string>& files);

}  // namespace oomplan::diagnose
