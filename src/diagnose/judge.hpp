// From a case to the diagnosis.
#pragma once

#include <string>
#include <vector>

#include "case.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "rules.hpp"

namespace oomplan::diagnose {

/// What all causes say of the case, the heaviest first; never empty.
std::vector<Judgement> judgements(const Case& c);

/// Secondary findings: contradictions, limits, mismatches.
std::vector<Finding> findings(const Case& c);

Diagnosis judge(const Rules& rules, const Case& c);

}  // namespace oomplan::diagnose
