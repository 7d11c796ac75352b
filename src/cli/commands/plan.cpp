#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../answer.hpp"
#include "../cards.hpp"
#include "../codes.hpp"
#include "../command.hpp"
#include "../each_gpu.hpp"
#include "../errors.hpp"
#include "../host_check.hpp"
#include "../layout_files.hpp"
#include "../options.hpp"
#include "../parallel.hpp"
#include "../plain_loop.hpp"
#include "../reasons.hpp"
#include "../recipe.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/ingest/ingest.hpp"
#include "oomplan/report/layouts_view.hpp"
#include "oomplan/survey/meshes.hpp"

namespace oomplan::cli {
namespace {

// A GPU's part of what an InfiniBand card of 200 Gb/s brings.
constexpr double usual_network = 25;
constexpr std::int64_t most_rows = 1'000'000;

struct Options {
  Question question{};
  std::vector<std::string> gpus{};
  std::string headroom{usual_headroom_text};
  std::optional<std::int64_t> rows{};
  std::optional<std::int64_t> network{};
  std::string loop{};
  std::string write{};
  bool json = false;
  std::size_t width = usual_width;  ///< Of the terminal.
};

void add_options(const ArgumentParser& app, Options& options) {
  Question& question = options.question;
  app.option("MODEL", question.config,
             "A model, by hub id or folder; or a config of transformers' Trainer or TRL, of torchtitan or of the plain "
             "form")
      .required();
  app.option("--gpu", options.gpus,
             "How many GPUs of which kind: 8xh100-80gb, on two machines 2x8xh100-80gb; several with commas, one after "
             "the other")
      .required()
      .repeatable()
      .separated_by(',')
      .type_name("NxNAME");
  app.option("--rows", options.rows,
             "Rows of a step on all GPUs together; else what the config comes to on as many GPUs")
      .between(1, static_cast<int>(most_rows))
      .type_name("ROWS");
  add_recipe_options(app, question.recipe);
  app.option("--loop", options.loop,
             "Of a model in place of a config: trl (as it is), or torch, a plain loop, of which ranks can share "
             "matrices and layers too")
      .among({"trl", "torch"})
      .type_name("NAME");
  app.option("--headroom", options.headroom, "How much of each GPU to leave free (5%)").type_name("PERCENT");
  app.option("--network", options.network, "Between machines, of one GPU in one direction, in GB/s (25)")
      .positive()
      .type_name("GB/S");
  app.option("--write", options.write, "Write the first layout's config and launcher config to a new folder")
      .checked([](const std::string& folder) { return folder.empty() ? "expected a folder" : std::string(); })
      .type_name("FOLDER");
  add_trainer_option(app, question.trainer);
  add_version_options(app, question.versions);
  add_host_options(app, question.host);
  add_set_option(app, question.overrides);
  add_models_option(app, question.models);
  app.flag("--json", options.json, "Print one JSON object (docs/plan.schema.json)");
}

Outcome refused(const Diagnostics& problems, const Options& options) {
  Outcome out{.code = exit_code_of(verdict_of(problems))};
  if (options.json) {
    out.out = layouts_json(options.question.config, problems);
    return out;
  }
  out.err = refusal_text(problems, {.config = options.question.config, .width = options.width});
  return out;
}

/// The layouts that so many GPUs can have, each with checkpointing and without.
std::vector<Layout> all_layouts(const LayoutQuestion& question, const std::vector<LayoutKind>& kinds) {
  std::vector<const LayoutKind*> asked;
  for (const LayoutKind& kind : kinds)
    if (is_for(kind, question.world)) asked.push_back(&kind);
  std::vector<Layout> out(2 * asked.size());
  for_each_index(out.size(), [&](std::size_t i) { out[i] = layout_of(question, *asked[i / 2], i % 2 == 1); });
  sort_layouts(out);
  return out;
}

/// accelerate's name for it.
std::string precision_of(const TrainingPlan& plan) {
  const Autocast autocast = plan.precision.autocast.value;
  return autocast == Autocast::none ? "no" : std::string(autocast_names[static_cast<std::size_t>(autocast)]);
}

/// Of a step of the plan on all GPUs together.
Result<std::int64_t> rows_of(const TrainingPlan& plan) {
  const std::int64_t at_once =
      saturating_mul(plan.batch.micro_batch_size.value, plan.mesh.pipeline_micro_batches.value);
  const std::int64_t of_one = saturating_mul(at_once, plan.batch.gradient_accumulation_steps.value);
  const std::int64_t sharing = std::max<std::int64_t>(plan.mesh.context_parallel.value, 1);
  const std::int64_t rows = saturating_mul(of_one, std::max<std::int64_t>(data_ranks(plan.mesh) / sharing, 1));
  if (rows <= most_rows) return rows;
  return Diagnostic{.code = "cli/usage",
                    .message = "the config comes to more than " + std::to_string(most_rows) + " rows a step",
                    .hint = "--rows says how many there are to be"};
}

/// Why neither the layouts of models/layouts nor meshes are this config's.
/// What of a config's own sharding is no part of any mesh, and what --set says of what meshes are compared by.
Diagnostics not_for_meshes(const TrainingPlan& plan) {
  const MeshFacts& mesh = plan.mesh;
  const auto other = [](std::string message, const Origin& origin, std::string hint) {
    return Diagnostics{
        {.code = "survey/other-layout", .message = std::move(message), .where = origin.where, .hint = std::move(hint)}};
  };
  if (is_zero(mesh.sharding.value))
    return other("DeepSpeed's ZeRO is not compared with meshes", mesh.sharding.origin, "oomplan estimate takes it");
  if (mesh.fsdp_offload.value)
    return other("shards on the host are not compared", mesh.fsdp_offload.origin, "oomplan estimate takes them");
  const auto is_set = [](const auto&... facts) { return ((facts.origin.kind == Origin::Kind::command_line) || ...); };
  // Of torchtitan how many GPUs there are says it too.
  if (plan.dialect != "torchtitan" &&
      is_set(mesh.sharding, mesh.tensor_parallel, mesh.sequence_parallel, mesh.loss_parallel, mesh.pipeline_parallel,
             mesh.pipeline_schedule, mesh.fsdp_replicas, mesh.fsdp_reshard))
    return other("--set says how ranks share the model, by which meshes are compared", {},
                 "oomplan estimate takes one mesh");
  return {};
}

Diagnostics not_for_layouts(const TrainingPlan& plan, const LayoutWorld& world) {
  if (is_context_parallel(plan.mesh)) {
    return {{.code = "survey/other-layout",
             .message = "context parallelism is not compared with other layouts",
             .where = plan.mesh.context_parallel.origin.where,
             .hint = "oomplan estimate takes it"}};
  }
  if (says_meshes(plan.dialect)) return not_for_meshes(plan);
  if (plan.dialect != "hf")
    return {{.code = "survey/other-layout",
             .message = "layouts are compared for configs of transformers' Trainer and TRL, of torchtitan and of the "
                        "plain form, and this is read as " +
                        plan.dialect,
             .hint = "oomplan estimate and fix take it"}};
  const Sharding whole = world.gpus() > 1 ? Sharding::ddp : Sharding::none;
  if (plan.mesh.sharding.value == whole) return {};
  return {{.code = "survey/other-layout",
           .message = "the config says itself how its model is shared among GPUs",
           .where = plan.mesh.sharding.origin.where,
           .hint = "without that it can be started in every layout"}};
}

/// 0 where a layout fits, 1 where none does; where one that cannot be decided may, that is the answer.
ExitCode code_of(const std::vector<Layout>& layouts) {
  if (layouts.front().fits) return ExitCode::ok;
  const auto open = [](const Layout& layout) { return !layout.undecided.empty(); };
  return std::ranges::any_of(layouts, open) ? ExitCode::undecided : ExitCode::does_not_fit;
}

Outcome plan_on_gpus(const std::string& gpus, const Options& options, const Terminal& terminal) {
  Question question = options.question;
  question.gpus = {gpus};
  const auto headroom = parse_headroom(options.headroom);
  if (!headroom) return refused({bad_headroom(options.headroom)}, options);
  const Result<Catalog> catalog = catalog_here(question.models);
  if (!catalog) return refused(catalog.errors(), options);
  if (const Diagnostics bad = check_counts(question.gpus); !bad.empty()) return refused(bad, options);
  if (const Diagnostics bad = wrong_in(question.host); !bad.empty()) return refused(bad, options);
  const Cards cards = cards_of(gpus);
  const Result<Gpu> gpu = find_gpu(cards.name, *catalog);
  if (!gpu) return refused(gpu.errors(), options);
  const Result<std::vector<LayoutKind>> kinds = layout_kinds();
  if (!kinds) return refused(kinds.errors(), options);
  if (!options.loop.empty() && names_file(question.config)) {
    return refused({{.code = "cli/usage",
                     .message = "--loop is of a model that is named in place of a config",
                     .hint = "a config says itself what trains it"}},
                   options);
  }
  const Result<ReadConfig> read = options.loop == "torch"
                                      ? plain_loop(question.config, question.recipe, *catalog)
                                      : config_or_recipe(question.config, question.recipe, *catalog);
  if (!read) return refused(read.errors(), options);
  LayoutsView view{.config = question.config, .recipe = read->recipe, .gpu = *gpu, .headroom = *headroom};
  view.world = {std::max(cards.each, std::int64_t{1}), cards.machines,
                static_cast<double>(options.network.value_or(usual_network))};
  question.gpus = {std::to_string(view.world.machines) + "x" + std::to_string(view.world.each) + "x" + cards.name};
  IngestOptions how = ingest_options(question);
  const Result<TrainingPlan> plan = ingest(read->document, how);  // Each GPU with the whole of the model.
  if (!plan) return refused(plan.errors(), options);
  if (const Diagnostics other = not_for_layouts(*plan, view.world); !other.empty()) return refused(other, options);
  how.dialect = plan->dialect;
  const Result<Architecture> architecture = find_model(plan->model.name.value, *catalog, plan->model_config);
  if (!architecture) return refused(placed(architecture.errors(), plan->model.name.origin), options);
  const Result<std::int64_t> rows = options.rows ? Result<std::int64_t>(*options.rows) : rows_of(*plan);
  if (!rows) return refused(rows.errors(), options);
  view.rows = *rows;
  view.world.precision = precision_of(*plan);
  const LayoutQuestion asked{read->document, how,       *architecture, *gpu,
                             view.world,     view.rows, *headroom,     host_check(question.host, *catalog)};
  if (says_meshes(plan->dialect)) {
    const Result<TrainingPlan> plain = with_model_defaults(*plan, *architecture);
    if (!plain) return refused(plain.errors(), options);
    Meshes meshes = plan_meshes(asked, *plain);
    view.layouts = std::move(meshes.layouts);
    view.meshes = meshes.counts;
  } else {
    view.layouts = all_layouts(asked, *kinds);
  }
  if (view.layouts.empty()) {
    return refused({{.code = "survey/other-layout",
                     .message = "the frameworks stop at every mesh of these GPUs",
                     .hint = "oomplan estimate says why of one"}},
                   options);
  }
  const Layout& first = view.layouts.front();
  if (!first.undecided.empty()) return refused(first.undecided, options);
  if (!options.write.empty() && first.fits) {
    Result<std::vector<std::string>> files = write_layout(options.write, asked, question.overrides, first);
    if (!files) return refused(files.errors(), options);
    view.files = std::move(*files);
  }
  Outcome out{.code = code_of(view.layouts)};
  out.out =
      options.json ? layouts_json(view) : layouts_text(view, {.colour = terminal.colour, .width = terminal.width});
  return out;
}

Outcome run_plan(const Options& given, const Terminal& terminal) {
  Options options = given;
  options.width = terminal.width;
  if (const Diagnostics bad =
          check_alone(options.gpus, {{"--json", options.json}, {"--write", !options.write.empty()}});
      !bad.empty())
    return refused(bad, options);
  return answer_each(options.gpus, [&](const std::string& gpus) { return plan_on_gpus(gpus, options, terminal); });
}

}  // namespace

Command commands::plan(const ArgumentParser& program) {
  return command_with(
      program.command("plan", "Compare ways to spread a run over GPUs: what fits, and which is quickest")
          .in("Plan")
          .examples({"oomplan plan meta-llama/Llama-3.1-8B --gpu 8xh100-80gb --method full --length 4096 --rows 128",
                     "oomplan plan train.yaml --gpu 4xl40s --write run"}),
      add_options, run_plan);
}

}  // namespace oomplan::cli
