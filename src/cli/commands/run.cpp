#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../codes.hpp"
#include "../command.hpp"
#include "../launched.hpp"
#include "../new_file.hpp"
#include "../options.hpp"
#include "../predicted.hpp"
#include "oomplan/diagnose/diagnose.hpp"
#include "oomplan/report/diagnosis_view.hpp"
#include "oomplan/watch/watch.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  std::vector<std::string> command{};  ///< Only for the syntax, which takes a word like [a,b] for a list.
  std::string log{};
  std::string json{};
  Question prediction{};
};

void append(Diagnostics& to, const Diagnostics& from) { to.insert(to.end(), from.begin(), from.end()); }

/// What the job wrote: into the log, where one is wanted, and block by block to the inquest.
class Transcript {
 public:
  Transcript(Inquest inquest, std::optional<NewFile>& log) : inquest_(std::move(inquest)), log_(log) {
    inquest_.begin(log_ ? log_->path() : "output");
  }

  void add(std::string_view lines) {
    if (log_) log_->write(lines);
    block_ += lines;
    if (block_.size() >= LogText::most / 4) read_block();
  }

  Diagnosis finish() {
    read_block();
    return inquest_.finish();
  }

 private:
  void read_block() {
    inquest_.read(block_);
    block_.clear();
  }

  Inquest inquest_;
  std::optional<NewFile>& log_;
  std::string block_{};
};

/// The files that were asked for, made before anything runs.
struct Files {
  std::optional<NewFile> log{};
  std::optional<NewFile> json{};
};

Diagnostics create(const std::string& path, std::optional<NewFile>& file) {
  if (path.empty()) return {};
  Result<NewFile> made = NewFile::create(path);
  if (!made) return made.errors();
  file.emplace(std::move(*made));
  return {};
}

std::string text_of(const Diagnostics& problems) {
  std::string out;
  for (const Diagnostic& problem : problems) out += to_text(problem);
  return out;
}

Outcome refused(const Diagnostics& problems) {
  return {.code = exit_code_of(verdict_of(problems)), .err = text_of(problems)};
}

/// As a shell has it: 127 where there is no such program, 126 where it cannot be run.
Outcome not_started(const Diagnostics& problems) {
  const bool missing = problems.front().code == "watch/not-found";
  return {.code = static_cast<ExitCode>(missing ? 127 : 126), .err = text_of(problems)};
}

/// Its code is the job's, but that lost output is no success.
ExitCode code_of(const Ended& end) {
  return end.exit_code == 0 && !end.lost_output.empty() ? ExitCode::invalid : static_cast<ExitCode>(end.exit_code);
}

Outcome ended(const Ended& end, Diagnosis diagnosis, const Expected& expected, Files& files, const Terminal& terminal) {
  Diagnostics problems;
  add_join(diagnosis, expected, problems);
  if (files.json) files.json->write(diagnosis_json(diagnosis, problems));
  Outcome out{.code = code_of(end), .interrupted = end.signal == SIGINT};
  const bool colour = terminal.colour && isatty(STDERR_FILENO) == 1;
  if (!end.lost_output.empty())
    out.err = "oomplan run: the job's output could not be passed on: " + end.lost_output + "\n";
  if (out.interrupted) out.err += "oomplan run: interrupted\n";
  if (end.exit_code != 0 && !out.interrupted)
    out.err += "\n" +
               diagnosis_text(diagnosis, {.colour = colour, .width = terminal.width, .breaks = terminal.on_screen}) +
               text_of(problems);
  for (const std::optional<NewFile>* file : {&files.log, &files.json})
    if (*file) out.err += text_of((*file)->problems());
  return out;
}

/// What its user can mend before the job runs. That a config cannot be estimated is for the end.
Diagnostics mistakes_in(const Expected& config) {
  Diagnostics all = config.problems;
  append(all, config.findings.diagnostics);
  return verdict_of(all) == Verdict::usage || verdict_of(all) == Verdict::invalid ? all : Diagnostics{};
}

/// What starts the run says whose trainer it is, where --trainer does not, and what --set does not.
Question of_command(Question question, const std::vector<std::string>& command) {
  Launched launched = launched_by(command);
  question.overrides.insert(question.overrides.begin(), launched.facts.begin(), launched.facts.end());
  if (!question.trainer.empty()) return question;
  question.trainer = std::move(launched.trainer);
  question.trainer_said = std::move(launched.words);
  return question;
}

Outcome run_job(const Options& options, const Terminal& terminal) {
  if (!terminal.own_process) return needs_own_process("run");
  const std::vector<std::string> command = command_in(terminal.words);
  if (command.empty())
    return refused({{.code = "cli/usage",
                     .message = "the command to run stands after --",
                     .hint = "oomplan run -- python train.py"}});
  const Result<Rulebook> rules = Rulebook::load();
  if (!rules) return refused(rules.errors());
  const Expected config = expected(of_command(options.prediction, command));
  if (const Diagnostics wrong = mistakes_in(config); !wrong.empty()) return refused(wrong);
  Files files;
  Diagnostics problems = create(options.log, files.log);
  append(problems, create(options.json, files.json));
  if (!problems.empty()) return refused(problems);
  Transcript transcript(Inquest(*rules), files.log);
  const Result<Ended> end = watch(command, [&](std::string_view lines) { transcript.add(lines); });
  if (!end) return not_started(end.errors());
  transcript.add(account_of(*end));
  return ended(*end, transcript.finish(), config, files, terminal);
}

}  // namespace

Command commands::run(const ArgumentParser& program) {
  const ArgumentParser app =
      program.command("run", "Run a command; if it fails, diagnose it")
          .in("Diagnose")
          .examples({"oomplan run -- python train.py",
                     "oomplan run --log train.log --config train.yaml --gpu l4 -- accelerate launch train.py"});
  auto options = std::make_shared<Options>();
  app.option("COMMAND", options->command, "What to run, with its arguments; after --").required();
  app.option("--log", options->log, "Keep what it writes in a new file").type_name("FILE");
  add_prediction_options(app, options->prediction);
  app.option("--json", options->json, "Write the diagnosis to a new file (docs/diagnosis.schema.json)")
      .type_name("FILE");
  return {app, [options](const Terminal& terminal) { return run_job(*options, terminal); }};
}

}  // namespace oomplan::cli
