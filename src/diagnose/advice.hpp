// What to do about the verdict: what fits the moment, the framework and the launcher before what fits the cause alone.
#pragma once

#include "case.hpp"
#include "oomplan/diagnose/evidence.hpp"
#include "rules.hpp"

namespace oomplan::diagnose {

/// Fills what it means, what to do, what not to do and what would prove it. Needs verdict, moment and findings.
void advise(const Rules& rules, const Case& c, Diagnosis& out);

}  // namespace oomplan::diagnose
