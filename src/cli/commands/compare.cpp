#include "oomplan/compare/compare.hpp"

#include <optional>
#include <string>

#include "../answer.hpp"
#include "../codes.hpp"
#include "../command.hpp"
#include "../input.hpp"
#include "../opened.hpp"
#include "../options.hpp"
#include "../recipe.hpp"
#include "oomplan/estimate/traced.hpp"
#include "oomplan/report/comparison_view.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  Question question{};
  std::string snapshot{};
  std::optional<std::int64_t> device{};
  bool json = false;
};

void add_options(const ArgumentParser& app, Options& options) {
  Question& question = options.question;
  app.option("CONFIG", question.config, config_help).required();
  app.option("SNAPSHOT", options.snapshot, "What torch.cuda.memory._dump_snapshot() wrote of the run; gzip, zstd too")
      .required();
  app.option("--gpu", question.gpus, "The GPU that it ran on, by name or size (24GiB), or several (8xh100)")
      .once()
      .type_name("NAME");
  app.option("--device", options.device, "Which GPU of the snapshot; else the first that it has a trace of")
      .type_name("NUMBER");
  app.option("--dialect", question.dialect, dialect_help()).type_name("NAME");
  add_recipe_options(app, question.recipe);
  add_trainer_option(app, question.trainer);
  add_launch_option(app, question.launch);
  add_version_options(app, question.versions);
  add_set_option(app, question.overrides);
  add_models_option(app, question.models);
  app.flag("--json", options.json, "Print one JSON object (docs/compare.schema.json)");
}

Outcome refused(const Diagnostics& problems, const Options& options) {
  const Verdict verdict = verdict_of(problems);
  Outcome out{.code = exit_code_of(verdict)};
  if (options.json) {
    out.out = comparison_json(options.question.config, options.snapshot, verdict, problems);
    return out;
  }
  for (const Diagnostic& problem : problems) out.err += to_text(problem);
  if (out.code == ExitCode::undecided) out.err += "oomplan: cannot be decided, for the reasons above\n";
  return out;
}

Diagnostic no_snapshot(const std::string& file) {
  return {.code = "read/not-a-snapshot",
          .message = "this is no memory snapshot: it is no pickle",
          .where = {file},
          .hint = "torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes one"};
}

Result<Snapshot> snapshot_at(const std::string& path) {
  Result<LogText> file = open_plain(path);
  if (!file) return file.errors();
  if (!file->is_pickle()) return no_snapshot(shown_path(path));
  return read_snapshot(*file, shown_path(path));
}

Result<Snapshot> predicted(const Findings& findings) {
  const Bytes workspace = findings.fits.empty() ? Bytes() : findings.fits.front().gpu.cublas_workspace;
  return snapshot_of(*findings.plan, *findings.architecture, workspace);
}

Result<std::size_t> device_in(const Snapshot& snapshot, const Options& options) {
  if (!options.device) return device_of(snapshot);
  const bool traced = *options.device >= 0 && *options.device < static_cast<std::int64_t>(snapshot.traces.size());
  const bool held = std::ranges::count(snapshot.segments, *options.device, &SnapshotSegment::device) > 0;
  if (*options.device >= 0 && (traced || held)) return static_cast<std::size_t>(*options.device);
  return Diagnostic{.code = "cli/usage",
                    .message = "the snapshot has nothing of GPU " + std::to_string(*options.device),
                    .where = {snapshot.file}};
}

ExitCode code_of(const Comparison& found) {
  if (!found.is_lined_up()) return ExitCode::undecided;
  return found.is_same() ? ExitCode::ok : ExitCode::does_not_fit;
}

Outcome run_compare(const Options& options, const Terminal& terminal) {
  if (options.question.config == "-" && options.snapshot == "-")
    return refused({{.code = "cli/usage", .message = "CONFIG and SNAPSHOT cannot both be standard input"}}, options);
  const Findings findings = answer(options.question);
  if (!findings.footprint) return refused(findings.diagnostics, options);
  const Result<Snapshot> observed = snapshot_at(options.snapshot);
  if (!observed) return refused(observed.errors(), options);
  const Result<std::size_t> device = device_in(*observed, options);
  if (!device) return refused(device.errors(), options);
  const Result<Snapshot> expected = predicted(findings);
  if (!expected) return refused(expected.errors(), options);
  const Result<Comparison> found = compare(*expected, *observed, *device);
  if (!found) return refused(found.errors(), options);
  const ComparisonView view{.config = options.question.config,
                            .gpu = findings.fits.empty() ? "" : findings.fits.front().gpu.name,
                            .found = *found,
                            .warnings = findings.plan->warnings};
  Outcome out{.code = code_of(view.found)};
  out.out = options.json ? comparison_json(view)
                         : comparison_text(view, {.colour = terminal.colour, .width = terminal.width});
  if (options.json) return out;
  for (const Diagnostic& warning : view.warnings) out.err += to_text(warning);
  if (out.code == ExitCode::undecided) out.err += "oomplan: cannot be decided, for the reasons above\n";
  return out;
}

}  // namespace

Command commands::compare(const ArgumentParser& program) {
  return command_with(program.command("compare", "Hold a run's memory snapshot against the prediction: what differs")
                          .in("Diagnose")
                          .examples({"oomplan compare train.yaml snapshot.pickle --gpu h100",
                                     "oomplan compare train.yaml snapshot.pickle --set max_length=4096 --json"}),
                      add_options, run_compare);
}

}  // namespace oomplan::cli
