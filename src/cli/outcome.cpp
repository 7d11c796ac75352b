#include "outcome.hpp"

#include <algorithm>
#include <cstddef>

#include "reasons.hpp"

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

namespace {

ReasonsPlace place_of(const Report& report, std::string_view above, const ViewOptions& options) {
  const TextParts& parts = options.parts;
  const auto taken = static_cast<std::size_t>(std::ranges::count(above, '\n'));
  return {.config = report.found.config,
          .width = options.width,
          .lines = screen_lines - std::min(taken, screen_lines),
          .all = parts.phases || parts.largest || parts.assumptions,
          .rest = "--all"};
}

}  // namespace

Outcome outcome_of(const Report& report, std::string_view view, const ViewOptions& options) {
  Outcome outcome{.code = exit_code_of(report.found.verdict), .out = render(report, view, options).value_or("")};
  if (view == "json") return outcome;
  if (report.found.verdict == Verdict::undecided) {
    outcome.err = reasons_text(report.diagnostics, place_of(report, outcome.out, options));
    return outcome;
  }
  for (const Diagnostic& diagnostic : report.diagnostics) outcome.err += to_text(diagnostic);
  return outcome;
}

}  // namespace oomplan::cli
