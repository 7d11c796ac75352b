#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "../answer.hpp"
#include "../baseline.hpp"
#include "../cards.hpp"
#include "../codes.hpp"
#include "../command.hpp"
#include "../fence.hpp"
#include "../gate_fix.hpp"
#include "../guarded.hpp"
#include "../host_check.hpp"
#include "../input.hpp"
#include "../models_cache.hpp"
#include "../options.hpp"
#include "../parallel.hpp"
#include "../survivors.hpp"
#include "../written.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/estimate/fit_check.hpp"
#include "oomplan/read/glob.hpp"
#include "oomplan/read/named_document.hpp"
#include "oomplan/report/gate_view.hpp"
#include "oomplan/survey/survey.hpp"

namespace oomplan::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> configs{};
  std::string policy{};
  std::vector<std::string> gpus{};
  std::string headroom{usual_headroom_text};
  std::string baseline{};
  std::string format = "text";
  std::vector<std::string> outputs{};
  std::string models{};
  Question read{};  ///< How configs are read.
  std::string html{};
  std::vector<std::string> outside{};
  bool quiet = false;
};

void add_options(const ArgumentParser& app, Options& options) {
  app.option("CONFIG", options.configs, "Training configs, or patterns of them: configs/**/*.yaml").required();
  const Option policy =
      app.option("--policy", options.policy, "Which configs go against which GPUs (docs/gate.md)").type_name("FILE");
  app.option("--gpu", options.gpus,
             "Without a policy: GPUs by name or size (l4,a100-80gb), or so many of each (8xh100)")
      .repeatable()
      .separated_by(',')
      .type_name("NAME")
      .excludes(policy);
  app.option("--headroom", options.headroom, "Without a policy: how much of the GPU to leave free (5%)")
      .type_name("PERCENT")
      .excludes(policy);
  app.option("--baseline", options.baseline, "What the peak has grown by since: a directory, or a git revision")
      .type_name("DIR|REV");
  app.option("--html", options.html, "Also write the report as an HTML page: --output html=FILE").type_name("FILE");
  app.option("--format", options.format, "text, markdown, junit, sarif, github, json or html").type_name("FORMAT");
  app.option("--output", options.outputs, "Also write this format to a file (repeatable)")
      .repeatable()
      .type_name("FORMAT=FILE");
  add_trainer_option(app, options.read.trainer);
  add_launch_option(app, options.read.launch);
  add_version_options(app, options.read.versions);
  add_host_options(app, options.read.host);
  app.option("--allow-outside", options.outside, "Let configs name files below DIR too, not only in the repository")
      .repeatable()
      .type_name("DIR");
  app.flag("-q,--quiet", options.quiet, "Print a line a config, and the count, without reasons");
  add_models_option(app, options.models);
}

void append(Diagnostics& all, const Diagnostics& more) { all.insert(all.end(), more.begin(), more.end()); }

struct Output {
  std::string format{};
  std::string file{};
};

Diagnostic unknown_format(const std::string& name) {
  const std::vector<std::string_view> known = gate_formats();
  const auto near = nearest(name, known);
  std::string all;
  for (const std::string_view one : known) all += (all.empty() ? "" : ", ") + std::string(one);
  return {.code = "cli/usage",
          .message = "there is no format '" + name + "'",
          .hint = (near ? "did you mean '" + *near + "'? " : "") + "the formats are " + all};
}

std::vector<Output> outputs_of(const Options& options, Diagnostics& errors) {
  std::vector<Output> out;
  const std::vector<std::string_view> known = gate_formats();
  for (const std::string& text : options.outputs) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals + 1 == text.size()) {
      errors.push_back({.code = "cli/usage", .message = "--output takes FORMAT=FILE, not '" + text + "'"});
    } else if (const std::string name = text.substr(0, equals); std::ranges::count(known, name) == 0) {
      errors.push_back(unknown_format(name));
    } else {
      out.push_back({name, text.substr(equals + 1)});
    }
  }
  if (!options.html.empty()) out.push_back({"html", options.html});
  for (auto one = out.begin(); one != out.end(); ++one) {
    const auto same = [&](const Output& before) { return same_place(before.file, one->file); };
    if (std::any_of(out.begin(), one, same))
      errors.push_back({.code = "cli/usage", .message = "two reports would go to " + one->file});
  }
  if (std::ranges::count(known, options.format) == 0) errors.push_back(unknown_format(options.format));
  return out;
}

Result<Document> read_within(const Fence& fence, const std::string& path) {
  if (std::optional<Diagnostic> outside = fence.objection(path)) return *std::move(outside);
  return read_document(path);
}

Loader loader_within(Fence fence) {
  return [fence = std::move(fence)](const std::string& path) -> Result<Document> {
    if (std::optional<Diagnostic> outside = fence.objection(path)) return *std::move(outside);
    return read_named_document(path);
  };
}

/// The directory too whose config.json is a link to elsewhere. A name that is no path lies in the working directory.
std::optional<Diagnostic> objection_to_model(const Fence& fence, const std::string& id_or_path) {
  if (std::optional<Diagnostic> outside = fence.objection(id_or_path)) return outside;
  return fence.objection((fs::path(id_or_path) / "config.json").string());
}

Result<Policy> policy_of(const Options& options, const Catalog& catalog) {
  if (!options.policy.empty()) {
    const Result<Document> document = read_within(Fence(options.outside).around(options.policy), options.policy);
    return document ? read_policy(*document, catalog) : document.errors();
  }
  Diagnostics errors;
  GateRule rule{.configs = {"**", "/**"}};
  if (options.gpus.empty())
    errors.push_back({.code = "cli/usage",
                      .message = "a gate needs --policy FILE or --gpu NAME",
                      .hint = "'oomplan gate --help' shows what there is"});
  if (const auto part = parse_headroom(options.headroom)) {
    rule.headroom = *part;
  } else {
    errors.push_back(bad_headroom(options.headroom));
  }
  append(errors, check_counts(options.gpus));
  for (const std::string& name : options.gpus) {
    Result<Gpu> gpu = find_gpu(cards_of(name).name, catalog);
    if (gpu) {
      rule.gpus.push_back(std::move(*gpu));
    } else {
      append(errors, gpu.errors());
    }
  }
  if (!errors.empty()) return errors;
  return Policy{.rules = {std::move(rule)}};
}

/// In the order of the command line, those of a pattern sorted, each once. A file of just that name goes before a
/// pattern.
std::vector<std::string> configs_of(const Options& options, Diagnostics& errors) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  const auto take = [&](const std::string& path) {
    if (seen.insert(path).second) out.push_back(path);
  };
  for (const std::string& text : options.configs) {
    std::error_code ignored;
    if (!is_glob(text) || fs::exists(fs::symlink_status(text, ignored))) {
      take(text);
      continue;
    }
    const Result<std::vector<std::string>> files = expand_glob(text);
    if (!files) {
      append(errors, files.errors());
    } else {
      for (const std::string& path : *files) take(path);
    }
  }
  return out;
}

bool undecidable(const Diagnostics& errors) { return verdict_of(errors) == Verdict::undecided; }

/// All that the configs are judged by.
struct Court {
  const Policy& policy;
  const std::optional<Baseline>& baseline;
  ModelsCache& models;
  const Fence& fence;
  const Question& read;  ///< How configs are read.
  HostCheck host{};
  const Ladder* fixes{};  ///< To look for a fix in; null where nothing shows one.
};

GateItem judge_one(const std::string& config, const Court& court) {
  const Fence fence = court.fence.around(config);
  std::deque<Result<Architecture>> refused;
  const auto model = [&](const TrainingPlan& plan) -> const Result<Architecture>& {
    std::optional<Diagnostic> outside = objection_to_model(fence, plan.model.name.value);
    return outside ? refused.emplace_back(*std::move(outside)) : court.models.find(plan);
  };
  GateQuestion question{.config = config, .ingest = ingest_options(court.read), .models = model, .host = court.host};
  question.ingest.loader = loader_within(fence);
  name_versions_beside(config, question.ingest,
                       [&](const std::string& path) { return !fence.objection(path).has_value(); });
  const std::optional<Result<Document>> former = court.baseline ? court.baseline->read(config) : std::nullopt;
  if (former) {
    question.baseline = &*former;
    question.baseline_ingest = question.ingest;
    question.baseline_ingest.loader = court.baseline->loader();
  } else if (court.baseline) {
    question.no_baseline = "new: it is not in the baseline";
  }
  const Result<Document> document = read_within(fence, config);
  GateItem out = judge(court.policy, document, question, undecidable);
  if (court.fixes == nullptr || out.verdict != GateVerdict::does_not_fit) return out;
  const auto again = [&](const Document& changed) {
    return judge(court.policy, changed, question, undecidable).verdict;
  };
  out.fix = gate_fix(out, *rule_for(court.policy, config), *document, question, *court.fixes, again);
  return out;
}

bool has_bug(const GateItem& item) { return verdict_of(item.diagnostics) == Verdict::bug; }

ExitCode code_of(const Gate& gate) {
  if (!gate.diagnostics.empty()) return exit_code_of(verdict_of(gate.diagnostics));
  if (std::ranges::any_of(gate.items, has_bug)) return ExitCode::bug;
  if (gate.count(GateVerdict::invalid) > 0) return ExitCode::invalid;
  if (gate.count(GateVerdict::does_not_fit) + gate.count(GateVerdict::over_budget) > 0) return ExitCode::does_not_fit;
  return gate.count(GateVerdict::undecided) > 0 ? ExitCode::undecided : ExitCode::ok;
}

/// What is asked of the gate beside its options.
struct Asked {
  const std::vector<std::string>& configs;
  bool own_process = false;
  bool fixes = false;  ///< A format shows them.
};

Gate gate_of(const Options& options, const Asked& asked, Diagnostics errors) {
  const std::vector<std::string>& configs = asked.configs;
  Gate gate{.policy = options.policy, .baseline = options.baseline, .diagnostics = std::move(errors)};
  const Result<Catalog> catalog = catalog_in(options.models);
  if (!catalog) append(gate.diagnostics, catalog.errors());
  const Result<Policy> policy = catalog ? policy_of(options, *catalog) : Policy{};
  if (!policy) append(gate.diagnostics, policy.errors());
  std::optional<Baseline> baseline;
  if (!options.baseline.empty()) {
    const Result<Baseline> opened = Baseline::open(options.baseline);
    if (opened) {
      baseline = *opened;
    } else {
      append(gate.diagnostics, opened.errors());
    }
  }
  append(gate.diagnostics, wrong_in(options.read.host));
  if (!gate.diagnostics.empty()) return gate;
  ModelsCache models(*catalog);
  const Fence fence(options.outside);
  Question read = options.read;
  read.gpus = options.gpus;
  const Result<Ladder> ladder = asked.fixes ? Ladder::load() : Result<Ladder>(Diagnostics{});
  if (asked.fixes && !ladder) {
    gate.diagnostics = ladder.errors();
    return gate;
  }
  const Court court{
      *policy, baseline, models, fence, read, host_check(read.host, *catalog), asked.fixes ? &*ladder : nullptr};
  gate.items.resize(configs.size());
  const auto judge_at = [&](std::size_t i) {
    gate.items[i] = guarded(configs[i], [&] { return judge_one(configs[i], court); });
  };
  if (asked.own_process) {
    for_each_surviving(configs.size(), judge_at,
                       [&](std::size_t i, int signal) { gate.items[i] = ended_by(signal, configs[i]); });
  } else {
    for_each_index(configs.size(), judge_at);
  }
  gate.warnings = idle_patterns(*policy, configs);
  return gate;
}

/// A config that ends in a bug is not read once more.
std::vector<std::string> inputs_of(const Options& options, const std::vector<std::string>& configs, const Gate& gate) {
  std::vector<std::string> out = options.configs;
  const Fence fence(options.outside);
  const auto take = [&](const std::string& config) {
    const IngestOptions within{.loader = loader_within(fence.around(config))};
    for (std::string& file : config_files(config, within)) out.push_back(std::move(file));
  };

  if (!options.policy.empty()) out.push_back(options.policy);
  if (!options.read.host.loader.empty()) out.push_back(options.read.host.loader);
  std::error_code ignored;
  const bool beside = fs::is_directory(options.baseline, ignored);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::string& config = configs[i];
    out.push_back(config);
    if (i < gate.items.size() && has_bug(gate.items[i])) continue;
    take(config);
    if (beside) take((fs::path(options.baseline) / path_from_here(config)).string());
  }
  return out;
}

Outcome run_gate(const Options& options, const Terminal& terminal) {
  Diagnostics errors;
  const std::vector<Output> outputs = outputs_of(options, errors);
  const std::vector<std::string> configs = configs_of(options, errors);
  const bool fixes = options.format == "sarif" || std::ranges::count(outputs, "sarif", &Output::format) > 0;
  const Gate gate = gate_of(options, {configs, terminal.own_process, fixes}, std::move(errors));
  Outcome out{.code = code_of(gate)};
  const bool told = options.format != "text" || gate.diagnostics.empty();
  const auto view = gate_view(options.format, gate, {.colour = terminal.colour, .verdict_only = options.quiet});
  if (told && view) {
    out.out = *view;
  } else {
    for (const Diagnostic& problem : gate.diagnostics) out.err += to_text(problem);
  }
  if (options.format != "json" && options.format != "github")
    for (const Diagnostic& warning : gate.warnings) out.err += to_text(warning);
  if (outputs.empty()) return out;
  const std::vector<std::string> inputs = inputs_of(options, configs, gate);
  for (const Output& output : outputs) add_report(out, output.file, *gate_view(output.format, gate), inputs);
  return out;
}

}  // namespace

Command commands::gate(const ArgumentParser& program) {
  return command_with(program.command("gate", "Check configs against the GPUs that a policy names for them, for CI")
                          .in("Plan")
                          .examples({"oomplan gate 'configs/**/*.yaml' --policy oomplan-policy.yaml",
                                     "oomplan gate train.yaml --gpu a100-80gb --baseline origin/main"}),
                      add_options, run_gate);
}

}  // namespace oomplan::cli
