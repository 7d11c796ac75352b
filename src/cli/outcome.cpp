#include "outcome.hpp"

namespace oomplan::cli {

ExitCode exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::answered:
    case Verdict::fits:
      return ExitCode::ok;
    case Verdict::does_not_fit:
      return ExitCode::does_not_fit;
    case Verdict::usage:
      return ExitCode::usage;
    case Verdict::invalid:
      return ExitCode::invalid;
    case Verdict::undecided:
      return ExitCode::undecided;
    case Verdict::bug:
      break;
  }
  return ExitCode::bug;
}

Outcome outcome_of(const Report& report, std::string_view view, const ViewOptions& options) {
  Outcome outcome{.code = exit_code_of(report.found.verdict), .out = render(report, view, options).value_or("")};
  if (view == "json") return outcome;
  for (const Diagnostic& diagnostic : report.diagnostics) outcome.err += to_text(diagnostic);
  if (report.found.verdict == Verdict::undecided) {
    outcome.err += "oomplan: cannot be decided, for the reasons above\n";
  }
  return outcome;
}

}  // namespace oomplan::cli
