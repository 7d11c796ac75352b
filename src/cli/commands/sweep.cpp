#include <algorithm>
#include <string>
#include <vector>

#include "../answer.hpp"
#include "../cards.hpp"
#include "../codes.hpp"
#include "../command.hpp"
#include "../each_gpu.hpp"
#include "../errors.hpp"
#include "../host_check.hpp"
#include "../models_cache.hpp"
#include "../options.hpp"
#include "../parallel.hpp"
#include "../reasons.hpp"
#include "../recipe.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/plan/trainer.hpp"
#include "oomplan/report/sweep_view.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan::cli {
namespace {

struct Options {
  Question question{};
  std::vector<std::string> gpus{};
  std::string headroom{usual_headroom_text};
  std::vector<std::string> over{};
  bool json = false;
  bool csv = false;
  bool quiet = false;
  std::size_t width = usual_width;  ///< Of the terminal.
};

void add_options(const ArgumentParser& app, Options& options) {
  Question& question = options.question;
  app.option("CONFIG", question.config, config_help).required();
  app.option("--over", options.over,
             "KEY=1..64, KEY=1024:65536:x2, KEY=64:512:+64, KEY=1,2,4 or KEY=bf16|fp16; several with commas, or again")
      .required()
      .repeatable()
      .type_name("AXES");
  add_gpus_option(app, options.gpus);
  app.option("--headroom", options.headroom, "How much of the GPU to leave free (5%)").type_name("PERCENT");
  add_recipe_options(app, question.recipe);
  add_trainer_option(app, question.trainer);
  add_launch_option(app, question.launch);
  add_version_options(app, question.versions);
  add_host_options(app, question.host);
  add_set_option(app, question.overrides);
  app.option("--dialect", question.dialect, dialect_help()).type_name("NAME");
  add_models_option(app, question.models);
  const Option quiet = app.flag("-q,--quiet", options.quiet, "Print the largest that fits, and how many do");
  const Option csv = app.flag("--csv", options.csv, "Print one line a combination, sizes in bytes").excludes(quiet);
  app.flag("--json", options.json, "Print one JSON object (docs/sweep.schema.json)").excludes(csv).excludes(quiet);
}

Outcome refused(const Diagnostics& problems, const Options& options) {
  Outcome out{.code = exit_code_of(verdict_of(problems))};
  if (options.json) {
    out.out = sweep_json(options.question.config, problems);
    return out;
  }
  out.err = refusal_text(problems, {.config = options.question.config, .width = options.width});
  return out;
}

/// The plan at the first point. A misspelt axis would fail at every point alike: it is told once, before any is
/// estimated.
Result<TrainingPlan> first_plan(const Document& document, IngestOptions options, const Sweep& sweep) {
  for (const Axis& axis : sweep.axes) options.overrides.push_back(axis.key + "=" + axis.values.front());
  return ingest(document, options);
}

Outcome print(const Sweep& sweep, const Options& options, const Terminal& terminal) {
  Outcome out{.code = sweep.largest ? ExitCode::ok : ExitCode::does_not_fit};
  out.out = options.json  ? sweep_json(sweep)
            : options.csv ? sweep_csv(sweep)
                          : sweep_text(sweep, {.colour = terminal.colour, .verdict_only = options.quiet});
  return out;
}

/// Where no point has a figure, the one whose error is the most basic: it is why there is no answer.
std::optional<std::size_t> point_in_the_way(const Sweep& sweep) {
  const auto basic = [&](const SweepPoint& point) {
    return static_cast<int>(exit_code_of(verdict_of({{.code = point.code}})));
  };
  std::optional<std::size_t> out;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    if (sweep.points[i].undecided.empty()) return std::nullopt;
    if (!out || basic(sweep.points[i]) < basic(sweep.points[*out])) out = i;
  }
  return out;
}

Outcome sweep_on(const std::string& name, const Options& options, const Terminal& terminal) {
  Question question = options.question;
  question.gpus = {name};
  Result<std::vector<Axis>> axes = parse_axes(options.over);
  if (!axes) return refused(axes.errors(), options);
  const auto headroom = parse_headroom(options.headroom);
  if (!headroom) return refused({bad_headroom(options.headroom)}, options);
  const std::vector<std::string_view> known = dialects();
  if (!question.dialect.empty() && std::ranges::count(known, question.dialect) == 0)
    return refused({unknown_dialect(question.dialect)}, options);
  const Result<Catalog> catalog = catalog_here(question.models);
  if (!catalog) return refused(catalog.errors(), options);
  if (const Diagnostics bad = check_counts(question.gpus); !bad.empty()) return refused(bad, options);
  if (const Diagnostics bad = wrong_in(question.host); !bad.empty()) return refused(bad, options);
  const Result<Gpu> gpu = find_gpu(cards_of(name).name, *catalog);
  if (!gpu) return refused(gpu.errors(), options);
  const Result<ReadConfig> read = config_or_recipe(question.config, question.recipe, *catalog);
  if (!read) return refused(read.errors(), options);
  const Document* document = &read->document;
  Sweep sweep{.config = question.config, .gpu = *gpu, .headroom = *headroom, .axes = std::move(*axes)};
  IngestOptions how = ingest_options(question);
  const Result<TrainingPlan> first = first_plan(*document, how, sweep);
  if (!first && verdict_of(first.errors()) == Verdict::usage) return refused(first.errors(), options);
  if (first) {  // The file is the same at every point, and so is what it is.
    how.dialect = first->dialect;
    sweep.count = gpu_count(*first);
    sweep.assumed_trainer = assumed_trainer(*first);
  }
  ModelsCache models(*catalog);
  std::size_t count = 1;
  for (const Axis& axis : sweep.axes) count *= axis.values.size();
  const auto model = [&](const TrainingPlan& plan) -> const Result<Architecture>& { return models.find(plan); };
  const HostCheck host = host_check(question.host, *catalog);
  std::vector<SweepPoint> points(count);
  for_each_index(count, [&](std::size_t i) { points[i] = sweep_point(*document, how, sweep, i, model, host); });
  sweep.points = std::move(points);
  if (const auto i = point_in_the_way(sweep))
    return refused(errors_at(*document, how, sweep, *i, model, host), options);
  find_frontier(sweep);
  Outcome out = print(sweep, options, terminal);
  if (first && !options.json)
    for (const Diagnostic& warning : first->warnings) out.err += to_text(warning);
  return out;
}

Outcome run_sweep(const Options& given, const Terminal& terminal) {
  Options options = given;
  options.width = terminal.width;
  if (const Diagnostics bad = check_alone(options.gpus, {{"--json", options.json}, {"--csv", options.csv}});
      !bad.empty())
    return refused(bad, options);
  return answer_each(options.gpus, [&](const std::string& gpu) { return sweep_on(gpu, options, terminal); });
}

}  // namespace

Command commands::sweep(const ArgumentParser& program) {
  return command_with(
      program.command("sweep", "Estimate a grid of settings: what fits, and the largest that does")
          .in("Plan")
          .examples(
              {"oomplan sweep examples/axolotl/llama-3.1-8b-qlora.yml --gpu rtx-4090 --over micro_batch_size=1..8",
               "oomplan sweep train.yaml --gpu l4 --over max_length=1024:8192:x2 --csv > grid.csv"}),
      add_options, run_sweep);
}

}  // namespace oomplan::cli
