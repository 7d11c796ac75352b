#include "oomplan/calibrate/calibrate.hpp"

#include <algorithm>
#include <string>

#include "../codes.hpp"
#include "../command.hpp"
#include "../opened.hpp"
#include "../written.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/report/calibration_view.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  std::string runs{};
  std::string output{};
  bool json = false;
};

void add_options(const ArgumentParser& app, Options& options) {
  app.option("RUNS", options.runs, "The runs.jsonl that oomplan's trainer callback wrote").required();
  app.option("--output", options.output, "Write the calibration, for `estimate --calibration`").type_name("FILE");
  app.flag("--json", options.json, "Print one JSON object (docs/calibration.schema.json)");
}

Outcome refused(const Diagnostics& problems, const Options& options) {
  Outcome out{.code = exit_code_of(verdict_of(problems))};
  if (options.json) {
    out.out = calibration_json(problems);
    return out;
  }
  for (const Diagnostic& problem : problems) out.err += to_text(problem);
  return out;
}

/// 0 where some card has terms; else 1 where there are enough runs of one, 4 where there are too few.
ExitCode code_of(const Calibration& found) {
  if (!found.cards.empty()) return ExitCode::ok;
  const bool enough =
      std::ranges::any_of(found.unfitted, [](const Unfitted& one) { return one.why != WhyUnfitted::too_few; });
  return enough ? ExitCode::does_not_fit : ExitCode::undecided;
}

Result<MeasuredRuns> runs_at(const std::string& path) {
  Result<LogText> file = open_plain(path);
  if (!file) return file.errors();
  return read_runs(*file, shown_path(path));
}

Outcome run_calibrate(const Options& options, const Terminal& terminal) {
  const Result<MeasuredRuns> runs = runs_at(options.runs);
  if (!runs) return refused(runs.errors(), options);
  const Calibration found = calibrate(*runs);
  Outcome out{.code = code_of(found)};
  out.out = options.json ? calibration_json(found) : calibration_text(found, terminal.width);
  if (options.output.empty()) return out;
  if (found.cards.empty()) {
    out.err += printable(options.output) + " is not written: no card has terms\n";
  } else {
    add_report(out, options.output, calibration_json(found), {options.runs});
  }
  return out;
}

}  // namespace

Command commands::calibrate(const ArgumentParser& program) {
  return command_with(program.command("calibrate", "Fit what cannot be known of a card from outside, from runs of it")
                          .in("Plan")
                          .examples({"oomplan calibrate runs.jsonl --output calibration.json",
                                     "oomplan estimate train.yaml --gpu h100 --calibration calibration.json"}),
                      add_options, run_calibrate);
}

}  // namespace oomplan::cli
