#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../answer.hpp"
#include "../command.hpp"
#include "../command_question.hpp"
#include "../errors.hpp"
#include "../host_check.hpp"
#include "../input.hpp"
#include "../options.hpp"
#include "../recipe.hpp"
#include "../written.hpp"
#include "oomplan/estimate/traced.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/report/html_view.hpp"
#include "oomplan/report/trace_view.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  Question question{};
  std::vector<std::string> command{};  ///< Only for the syntax: its first word is taken for the config.
  bool json = false;
  TextParts parts{};
  bool all_parts = false;
  bool quiet = false;
  bool no_replay = false;
  std::string explain{};
  std::string headroom{usual_headroom_text};
  std::string html{};
  std::string snapshot{};
  std::string trace{};
  std::optional<std::string> alloc_conf{};
  bool alloc_conf_from_environment = false;
};

void add_options(const ArgumentParser& app, Options& options) {
  Question& question = options.question;
  app.option("CONFIG", question.config, config_help).required();
  app.option("COMMAND", options.command, "Or what starts the run, after --: oomplan estimate -- trl sft --bf16 …");
  const Option gpus =
      app.option("--gpu", question.gpus,
                 "A GPU by name (see `oomplan gpus`) or size (24GiB), or several (8xh100); l4,a100-80gb compares")
          .repeatable()
          .separated_by(',')
          .type_name("NAME");
  app.option("--headroom", options.headroom, "How much of the GPU to leave free (5%)").type_name("PERCENT");
  app.option("--dialect", question.dialect, dialect_help()).type_name("NAME");
  add_recipe_options(app, question.recipe);
  add_trainer_option(app, question.trainer);
  add_launch_option(app, question.launch);
  add_version_options(app, question.versions);
  app.option("--set", question.overrides, "Change one thing in the config's own keys for a what-if (repeatable)")
      .repeatable()
      .type_name("KEY=VALUE");
  const Option conf = app.option("--alloc-conf", options.alloc_conf,
                                 "PyTorch's allocator settings, as PYTORCH_ALLOC_CONF takes them, over the config's")
                          .type_name("SETTINGS");
  app.flag("--alloc-conf-env", options.alloc_conf_from_environment,
           "Take them from this shell's PYTORCH_ALLOC_CONF or PYTORCH_CUDA_ALLOC_CONF")
      .excludes(conf);
  add_host_options(app, question.host);
  app.option("--step-time", question.host.step_time, "What an optimizer step takes (1.3s): can the loader keep up?")
      .type_name("TIME");
  const Option calibration =
      app.option("--calibration", question.calibration, "What `oomplan calibrate` fitted from runs on the card")
          .type_name("FILE");
  add_models_option(app, question.models);
  app.flag("--phases", options.parts.phases, "Print what each bucket holds in each phase");
  app.flag("--largest", options.parts.largest, "Print the largest tensors at the peak");
  app.flag("--assumptions", options.parts.assumptions, "Print the facts that the answer rests on");
  app.flag("--all", options.all_parts, "Print all three");
  app.flag("--no-replay", options.no_replay, "Leave PyTorch's allocator out, which takes longest: the tensors alone")
      .excludes(gpus)
      .excludes(calibration);
  app.flag("-q,--quiet", options.quiet, "Print the verdict alone");
  app.flag("--json", options.json, "Print one JSON object (docs/estimate.schema.json)");
  app.option("--html", options.html, "Also write the report as an HTML page").type_name("FILE");
  app.option("--snapshot", options.snapshot,
             "Also write the run as a PyTorch memory snapshot, which memory_viz and `oomplan replay` read")
      .type_name("FILE");
  app.option("--trace", options.trace, "Also write its step as a trace for ui.perfetto.dev or chrome://tracing")
      .type_name("FILE");
  app.option("--explain", options.explain, "Print what one bucket of the table is made of").type_name("BUCKET");
}

Outcome print(const Findings& findings, const Options& options, const Terminal& terminal) {
  const std::optional<Bucket> bucket = find_bucket(options.explain);
  const std::string_view view = options.json ? "json" : bucket ? "explain" : "text";
  return outcome_of(collect(findings), view,
                    {.colour = terminal.colour,
                     .width = terminal.width,
                     .verdict_only = options.quiet,
                     .bucket = bucket,
                     .parts = options.all_parts ? all_parts : options.parts});
}

/// What is wrong with the options before any file is read.
std::optional<Diagnostic> misuse(const Options& options) {
  if (!options.explain.empty() && !find_bucket(options.explain)) return unknown_bucket(options.explain);
  if (!parse_headroom(options.headroom)) return bad_headroom(options.headroom);
  const std::string& dialect = options.question.dialect;
  const std::vector<std::string_view> known = dialects();
  if (dialect.empty() || std::find(known.begin(), known.end(), dialect) != known.end()) return std::nullopt;
  return unknown_dialect(dialect);
}

/// torch reads the newer name first (c10/core/AllocatorConfig.cpp).
std::optional<Setting<std::string>> alloc_conf_of(const Options& options) {
  if (options.alloc_conf) {
    return Setting<std::string>{*options.alloc_conf, {Origin::Kind::command_line, "--alloc-conf", {}}};
  }
  if (!options.alloc_conf_from_environment) return std::nullopt;
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) return Setting<std::string>{value, {Origin::Kind::command_line, name, {}}};
  }
  return std::nullopt;
}

Bytes workspace_in(const Findings& findings) {
  return findings.fits.empty() ? Bytes() : findings.fits.front().gpu.cublas_workspace;
}

std::optional<Curve> curve_in(const Findings& findings) {
  if (!findings.footprint) return std::nullopt;
  Result<Curve> curve = oomplan::curve(*findings.plan, *findings.architecture, workspace_in(findings));
  return curve ? std::optional(std::move(*curve)) : std::nullopt;
}

std::string page_of(const Findings& findings) { return estimate_html(collect(findings), curve_in(findings)); }

Result<std::string> snapshot_in(const Findings& findings) {
  const Result<Snapshot> snapshot = snapshot_of(*findings.plan, *findings.architecture, workspace_in(findings));
  return snapshot ? Result<std::string>(write_snapshot(*snapshot)) : snapshot.errors();
}

Result<std::string> trace_in(const Findings& findings) {
  const Result<Curve> curve =
      oomplan::curve(*findings.plan, *findings.architecture, workspace_in(findings), trace_points);
  return curve ? Result<std::string>(trace_json(*curve, findings.config)) : curve.errors();
}

/// What is asked for beside the answer, each into a file that no other one is.
class Files {
 public:
  Files(Outcome& out, std::vector<std::string> inputs) : out_(out), inputs_(std::move(inputs)) {}

  void add(const std::string& path, const Result<std::string>& text) {
    if (text) {
      add_report(out_, path, *text, inputs_);
      return inputs_.push_back(path);
    }
    for (const Diagnostic& error : text.errors()) out_.err += to_text(error);
    out_.code = ExitCode::invalid;
  }

 private:
  Outcome& out_;
  std::vector<std::string> inputs_;
};

/// Of the config, or of the command after "--"; one word there is a config all the same, whatever it begins with.
Result<Question> asked(const Options& options, const Terminal& terminal) {
  const std::vector<std::string> command = command_in(terminal.words);
  if (command.size() > 1) return question_of(options.question, command);
  if (options.command.empty()) return options.question;
  return Diagnostic{.code = "cli/usage",
                    .message = "one config at a time: \"" + options.command.front() + "\" is another word",
                    .hint = "a command that starts the run stands after --"};
}

Outcome run_estimate(const Options& options, const Terminal& terminal) {
  const std::optional<Diagnostic> wrong = misuse(options);
  if (wrong) return print(failed({*wrong}), options, terminal);
  const Result<Question> asked_for = asked(options, terminal);
  if (!asked_for) return print(failed(asked_for.errors()), options, terminal);
  Question question = *asked_for;
  question.alloc_conf = alloc_conf_of(options);
  question.headroom = *parse_headroom(options.headroom);
  question.open_numbers = true;
  question.replay = !options.no_replay;
  question.outlook = question.replay && !options.quiet && options.explain.empty();
  std::optional<Document> document;
  const Findings findings = answer(question, &document);
  Outcome out = print(findings, options, terminal);
  if (options.html.empty() && options.snapshot.empty() && options.trace.empty()) return out;
  Files files(out, files_of(question, document));
  if (!options.html.empty()) files.add(options.html, page_of(findings));
  if (!findings.footprint) return out;
  if (!options.snapshot.empty()) files.add(options.snapshot, snapshot_in(findings));
  if (!options.trace.empty()) files.add(options.trace, trace_in(findings));
  return out;
}

}  // namespace

Command commands::estimate(const ArgumentParser& program) {
  return command_with(
      program.command("estimate", "Estimate the GPU memory of a training run: what fills it, when, and whether it fits")
          .in("Plan")
          .examples({"oomplan estimate examples/axolotl/llama-3.1-8b-qlora.yml --gpu rtx-4090",
                     "oomplan estimate meta-llama/Llama-3.1-8B --method qlora --gpu 4090"}),
      add_options, run_estimate);
}

}  // namespace oomplan::cli
