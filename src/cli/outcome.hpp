// What a command comes to: text for both streams and an exit code. Only run() writes it.
#pragma once

#include <string>
#include <string_view>

#include "oomplan/report/report.hpp"

namespace oomplan::cli {

/// As docs/manual.md lists them.
enum class ExitCode : int { ok = 0, does_not_fit = 1, usage = 2, invalid = 3, undecided = 4, bug = 5 };

struct Outcome {
  ExitCode code = ExitCode::ok;
  std::string out{};
  std::string err{};
  bool interrupted = false;  ///< The program dies of SIGINT once `err` is written, as what it ran did.
};

ExitCode exit_code_of(Verdict verdict);

/// The report in `view` on standard output. Views for people leave the diagnostics to standard error; JSON holds them.
Outcome outcome_of(const Report& report, std::string_view view, const ViewOptions& options);

}  // namespace oomplan::cli
