// From a case to the diagnosis, and what it is put together of.
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

// What a log shows of the run's end where it names no failure.

/// The last line with text, its time, the last step, the exit code or signal, the last error.
std::vector<Shown> shown_end(const Case& c);

// What to do about the verdict: what fits the moment, the framework and the launcher before what fits the cause alone.

/// Fills what it means, what to do, what not to do and what would prove it. Needs verdict, moment and findings.
void advise(const Rules& rules, const Case& c, Diagnosis& out);

// Which launcher ran the job, and what to ask it where the log does not say how the job ended.

/// Commands, with the names of job, pod or host where the log has them.
struct Questions {
  std::vector<std::string> first{};  ///< To the launchers that the log shows.
  std::vector<std::string> last{};   ///< Where it shows none.
  bool alone = false;                ///< Nothing else is worth asking there.
};
Questions questions(const Rules& rules, const Case& c);

}  // namespace oomplan::diagnose
