#include "oomplan/diagnose/diagnose.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../codes.hpp"
#include "../command.hpp"
#include "../input.hpp"
#include "../log_files.hpp"
#include "../opened.hpp"
#include "../predicted.hpp"
#include "../written.hpp"
#include "oomplan/report/diagnosis_view.hpp"
#include "oomplan/report/html_view.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  std::vector<std::string> logs{};
  std::string rules{};
  Question prediction{};
  bool json = false;
  std::string html{};
};

void append(Diagnostics& to, const Diagnostics& from) { to.insert(to.end(), from.begin(), from.end()); }

bool read_memory(LogText& file, const std::string& name, Inquest& inquest, Diagnostics& problems) {
  const Result<Snapshot> snapshot = read_snapshot(file, name);
  if (!snapshot) append(problems, snapshot.errors());
  if (snapshot) inquest.add(*snapshot);
  return snapshot.ok();
}

// What was read before an error counts: a log cut short is still a log.
bool read_log(const LogFile& file, Inquest& inquest, Diagnostics& problems) {
  Result<LogText> log = open_text(file.path, file.part);
  if (!log) {
    append(problems, log.errors());
    return false;
  }
  const std::string name = shown_path(file.path);
  if (log->is_pickle()) return read_memory(*log, name, inquest, problems);
  inquest.begin(name);
  while (true) {
    const Result<std::optional<std::string_view>> block = log->next();
    if (!block) append(problems, block.errors());
    if (!block) return problems.back().code == "read/damaged";
    if (!*block) return true;
    inquest.read(**block);
  }
}

Outcome refused(const Diagnostics& problems, const Options& options) {
  Outcome out{.code = exit_code_of(verdict_of(problems))};
  if (options.json) {
    Diagnosis none;
    none.headline = "nothing could be read";
    out.out = diagnosis_json(none, problems);
    return out;
  }
  for (const Diagnostic& problem : problems) out.err += to_text(problem);
  return out;
}

ExitCode code_of(const Diagnosis& diagnosis) {
  if (diagnosis.verdict.cause == Cause::sigkill_unknown || diagnosis.verdict.cause == Cause::unknown)
    return ExitCode::undecided;
  return diagnosis.out_of_memory ? ExitCode::ok : ExitCode::does_not_fit;
}

Outcome answered(const Diagnosis& diagnosis, const Diagnostics& problems, const Options& options,
                 const Terminal& terminal) {
  Outcome out{.code = code_of(diagnosis)};
  out.out = options.json
                ? diagnosis_json(diagnosis, problems)
                : diagnosis_text(diagnosis,
                                 {.colour = terminal.colour, .width = terminal.width, .breaks = terminal.on_screen});
  for (const Diagnostic& problem : problems)
    if (!options.json) out.err += to_text(problem);
  return out;
}

std::vector<std::string> inputs_of(const Options& options) {
  std::vector<std::string> out = options.logs;
  const Question& question = options.prediction;
  if (question.config.empty() || question.config == "-") return out;
  for (std::string& file : files_of(question)) out.push_back(std::move(file));
  return out;
}

Outcome run_diagnose(const Options& options, const Terminal& terminal) {
  std::vector<RuleFile> own;
  if (!options.rules.empty()) {
    Result<std::vector<RuleFile>> read = read_rules(options.rules);
    if (!read) return refused(read.errors(), options);
    own = std::move(*read);
  }
  Result<Rulebook> rules = Rulebook::load(own);
  if (!rules) return refused(rules.errors(), options);
  Inquest inquest(*rules);
  Diagnostics problems;
  bool any = false;
  std::vector<LogFile> files;
  for (const std::string& path : options.logs) add_log_files(path, files, problems);
  for (const LogFile& file : files) {
    if (read_log(file, inquest, problems)) any = true;
  }
  if (!any) return refused(problems, options);
  Diagnosis diagnosis = inquest.finish();
  add_join(diagnosis, expected(options.prediction), problems);
  Outcome out = answered(diagnosis, problems, options, terminal);
  if (!options.html.empty()) add_report(out, options.html, diagnosis_html(diagnosis, problems), inputs_of(options));
  return out;
}

}  // namespace

Command commands::diagnose(const ArgumentParser& program) {
  const ArgumentParser app = program.command("diagnose", "Diagnose a failed run from its logs: cause, evidence, fixes")
                                 .in("Diagnose")
                                 .examples({"oomplan diagnose train.log dmesg.txt",
                                            "oomplan diagnose train.log --config train.yaml --gpu rtx-4090"});
  auto options = std::make_shared<Options>();
  app.option("LOG", options->logs,
             "Logs and memory snapshots of one case, or a directory of them: a trace, dmesg, kubectl describe …; "
             "gzip, zstd, bzip2, xz too; - "
             "reads standard "
             "input")
      .required();
  app.option("--rules", options->rules, "A directory of your own messages, causes and moments").type_name("DIR");
  add_prediction_options(app, options->prediction);
  app.flag("--json", options->json, "Print one JSON object (docs/diagnosis.schema.json)");
  app.option("--html", options->html, "Also write the report as an HTML page").type_name("FILE");
  return {app, [options](const Terminal& terminal) { return run_diagnose(*options, terminal); }};
}

}  // namespace oomplan::cli
