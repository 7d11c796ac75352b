#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../answer.hpp"
#include "../applied.hpp"
#include "../codes.hpp"
#include "../command.hpp"
#include "../each_gpu.hpp"
#include "../errors.hpp"
#include "../host_check.hpp"
#include "../input.hpp"
#include "../new_file.hpp"
#include "../options.hpp"
#include "../reasons.hpp"
#include "../recipe.hpp"
#include "../written.hpp"
#include "oomplan/advise/advise.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/report/advice_view.hpp"
#include "oomplan/report/html_view.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  Question question{};
  std::vector<std::string> gpus{};
  std::string headroom{usual_headroom_text};
  std::vector<std::string> allow{};
  std::vector<std::string> forbid{};
  std::vector<std::string> keep{};
  bool json = false;
  std::string html{};
  bool apply = false;
  bool yes = false;
  bool quiet = false;
  std::size_t width = usual_width;  ///< Of the terminal.
};

void add_options(const ArgumentParser& app, Options& options) {
  Question& question = options.question;
  app.option("CONFIG", question.config, config_help).required();
  add_gpus_option(app, options.gpus);
  app.option("--headroom", options.headroom, "How much of the GPU to leave free (5%)").type_name("PERCENT");
  const auto several = [&](const char* name, std::vector<std::string>& to, const char* about, const char* type) {
    app.option(name, to, about).repeatable().type_name(type);
  };
  several("--allow", options.allow, "Take only this fix (docs/ladder.md has them) (repeatable)", "ID");
  several("--forbid", options.forbid, "Never take this fix (repeatable)", "ID");
  several("--keep", options.keep, "Leave alone: adapter, effective-batch or sequence-length (repeatable)", "WHAT");
  add_recipe_options(app, question.recipe);
  add_trainer_option(app, question.trainer);
  add_launch_option(app, question.launch);
  add_version_options(app, question.versions);
  add_host_options(app, question.host);
  add_set_option(app, question.overrides);
  app.option("--dialect", question.dialect, dialect_help()).type_name("NAME");
  const Option yes = app.flag("--yes", options.yes, "Confirm --apply");
  app.flag("--apply", options.apply, "Write the patch into CONFIG, and keep the old file beside it as .bak").needs(yes);
  add_models_option(app, question.models);
  const Option quiet = app.flag("-q,--quiet", options.quiet, "Print the verdict alone, and which fixes");
  app.flag("--json", options.json, "Print one JSON object (docs/advice.schema.json)").excludes(quiet);
  app.option("--html", options.html, "Also write the report as an HTML page").type_name("FILE");
}

Outcome refused(Diagnostics problems, const Options& options) {
  Outcome out{.code = exit_code_of(verdict_of(problems))};
  if (options.json) {
    out.out = advice_json(options.question.config, problems);
    return out;
  }
  out.err = refusal_text(problems, {.config = options.question.config, .width = options.width});
  return out;
}

template <class Names>
void check_names(const std::vector<std::string>& given, const Names& known, std::string_view what,
                 Diagnostics& errors) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const std::string& name : given) {
    if (std::ranges::count(names, name) > 0) continue;
    const auto near = nearest(name, names);
    errors.push_back(
        {.code = "cli/unknown-fix",
         .message = "there is no " + std::string(what) + " '" + name + "'",
         .hint = near ? "did you mean '" + *near + "'?" : "`oomplan fix --help` and docs/ladder.md list them"});
  }
}

Diagnostics misuse(const Options& options, const Ladder& ladder) {
  Diagnostics errors;
  const std::vector<std::string> ids = ladder.ids();
  check_names(options.allow, ids, "fix", errors);
  check_names(options.forbid, ids, "fix", errors);
  check_names(options.keep, keepable(), "thing to keep", errors);
  if (!parse_headroom(options.headroom)) errors.push_back(bad_headroom(options.headroom));
  const Diagnostics several = check_alone(
      options.gpus, {{"--json", options.json}, {"--html", !options.html.empty()}, {"--apply", options.apply}});
  errors.insert(errors.end(), several.begin(), several.end());
  const std::vector<std::string_view> known = dialects();
  const std::string& dialect = options.question.dialect;
  if (!dialect.empty() && std::ranges::count(known, dialect) == 0) errors.push_back(unknown_dialect(dialect));
  return errors;
}

Question asked(const Options& options, const std::string& gpu) {
  Question out = options.question;
  out.gpus = {gpu};
  out.headroom = *parse_headroom(options.headroom);
  out.open_numbers = out.outlook = out.cards_alone = true;
  return out;
}

/// Where nothing says how long rows are, a fix is one only where every row fits as it is: how much must be saved, the
/// length decides.
std::optional<Diagnostic> length_in_the_way(const Findings& findings) {
  if (!findings.plan || findings.lengths.empty() || findings.lengths.front().any_fits()) return std::nullopt;
  return Diagnostic{
      .code = "ingest/missing-fact",
      .message =
          "nothing says how long rows are, and not even the shortest fit: which fix is enough, their length says",
      .where = {findings.config, 0, 0},
      .hint = "--set sequence_length=…"};
}

AdviceQuestion question_of(const Question& question, const Options& options, const Findings& findings,
                           const Document& document, HostCheck host) {
  return {.plan = *findings.plan,
          .architecture = *findings.architecture,
          .gpu = findings.fits.front().gpu,
          .headroom = *parse_headroom(options.headroom),
          .allow = options.allow,
          .forbid = options.forbid,
          .keep = options.keep,
          .document = &document,
          .ingest = ingest_options(question),
          .host = std::move(host),
          .cheapest_alone = options.quiet && !options.apply && options.html.empty()};
}

Outcome print(const Advice& advice, const Findings& findings, const Options& options, const Terminal& terminal) {
  Outcome out{.code = advice.now.fits || advice.found ? ExitCode::ok : ExitCode::does_not_fit};
  out.out = options.json ? advice_json(advice) : advice_text(advice, {terminal.colour, terminal.width, options.quiet});
  for (const Diagnostic& warning : findings.plan->warnings)
    if (!options.json) out.err += to_text(warning);
  return out;
}

/// What of the patch is the config's own.
Result<std::string> patch_config(const Advice& advice, const Document& document) {
  if (advice.keys.empty()) return std::string("Written; the config stays as it is");
  const Result<std::string> text = patched(document, advice.keys);
  const Result<std::string> backup = text ? apply(document, *text) : text;
  if (!backup) return backup;
  return "Written; the file as it was is " + printable(*backup);
}

/// What was done. The launcher's file is there before the config is changed, and goes where that fails.
Result<std::string> apply_patch(const Advice& advice, const Document& document) {
  if (advice.patch.empty())
    return Diagnostic{
        .code = "cli/not-applied", .message = "there is no patch: " + advice.no_patch, .where = {advice.config, 0, 0}};
  if (!advice.launcher) return patch_config(advice, document);
  Result<NewFile> launcher = NewFile::create(advice.launcher->name);
  if (!launcher) return launcher.errors();
  Result<std::string> done = patch_config(advice, document);
  if (!done) return done;
  launcher->write(advice.launcher->text);
  if (Diagnostics problems = launcher->problems(); !problems.empty()) return problems;
  return *done + ", and " + advice.launcher->name + " is new";
}

Outcome fix_on(const std::string& gpu, const Ladder& ladder, const Options& options, const Terminal& terminal) {
  Question question = asked(options, gpu);
  if (Diagnostics wrong = wrong_in(question.host); !wrong.empty()) return refused(std::move(wrong), options);
  std::optional<Document> document;
  // The host is held beside each set of fixes.
  Question of_gpu = question;
  of_gpu.host = {};
  const Findings findings = answer(of_gpu, &document);
  if (!findings.lengths.empty() && findings.plan)
    question.overrides.push_back(with_length(findings.lengths.front().most));
  if (const std::optional<Diagnostic> open = length_in_the_way(findings)) return refused({*open}, options);
  if (!findings.diagnostics.empty() || !document)
    return refused(with_lengths(findings.diagnostics, findings.lengths), options);
  const Result<Catalog> catalog = catalog_here(question.models);
  if (!catalog) return refused(catalog.errors(), options);
  Result<Advice> advice =
      find_advice(question_of(question, options, findings, *document, host_check(question.host, *catalog)), ladder);
  if (!advice) return refused(advice.errors(), options);
  advice->config = question.config;
  if (findings.outlook && !advice->now.fits && too_small(advice->now.host) == nullptr)
    advice->larger = findings.outlook->cards.fitting;
  if (!findings.recipe.empty()) {
    advice->patch.clear();
    advice->no_patch = "these are arguments of `" + findings.recipe + "`, and no file has them";
  }
  Outcome out = print(*advice, findings, options, terminal);
  if (!options.html.empty()) add_report(out, options.html, advice_html(*advice), files_of(question, document));
  if (!options.apply || !advice->found) return out;
  const Result<std::string> done = apply_patch(*advice, *document);
  if (!done) return refused(done.errors(), options);
  if (!options.json) out.out += "\n" + *done + "\n";
  return out;
}

Outcome run_fix(const Options& given, const Terminal& terminal) {
  Options options = given;
  options.width = terminal.width;
  const Result<Ladder> ladder = Ladder::load();
  if (!ladder) return refused(ladder.errors(), options);
  Diagnostics wrong = misuse(options, *ladder);
  if (!wrong.empty()) return refused(std::move(wrong), options);
  return answer_each(options.gpus, [&](const std::string& gpu) { return fix_on(gpu, *ladder, options, terminal); });
}

}  // namespace

Command commands::fix(const ArgumentParser& program) {
  return command_with(program.command("fix", "Find the cheapest change that makes a training run fit, as a patch")
                          .in("Plan")
                          .examples({"oomplan fix examples/oomplan/gpt2-full.yaml --gpu 8GiB",
                                     "oomplan fix train.yaml --gpu rtx-4090 --keep adapter --apply --yes"}),
                      add_options, run_fix);
}

}  // namespace oomplan::cli
