#include "oomplan/ingest/ingest.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "compose.hpp"
#include "evaluation.hpp"
#include "key_versions.hpp"
#include "loader_facts.hpp"
#include "oomplan/plan/fact_table.hpp"
#include "overrides.hpp"
#include "script.hpp"
#include "sharding_keys.hpp"
#include "steps.hpp"
#include "versions.hpp"
#include "zero.hpp"

namespace oomplan {
namespace {

using ingestion::Dialect;
using ingestion::Draft;

void check_together(Draft& draft, const Document& document) {
  const TrainingPlan& plan = draft.plan;
  if (plan.quantization.kind.value == Quantization::none || plan.adapter.kind.value != Adapter::none) return;
  conflict(draft, plan.quantization.kind.origin, document,
           "quantized weights cannot be trained without an adapter: transformers' Trainer refuses them");
}

// Beside an error, what else stands in the way is worth knowing at once.
void add_reasons(TrainingPlan& plan, Diagnostics& errors) {
  for (const Unmodelled& one : plan.unmodelled) errors.push_back(error_of(one));
  errors.insert(errors.end(), plan.warnings.begin(), plan.warnings.end());
}

Result<TrainingPlan> finish(Draft draft, const Document& document) {
  check_together(draft, document);
  for (auto& missing : draft.missing) draft.errors.push_back(std::move(missing.error));
  if (draft.errors.empty()) return std::move(draft.plan);
  add_reasons(draft.plan, draft.errors);
  return std::move(draft.errors);
}

/// What a config is by some versions, and what of it they do not have.
struct Reading {
  Result<TrainingPlan> plan{Diagnostics{}};
  std::vector<NamedVersion> others{};  ///< That may have it.
  std::string refused{};               ///< The first key that they do not have.
  Location at{};                       ///< Where that is.
  std::string version{};               ///< "trl 1.16.0"
};

bool is_named(const IngestOptions& options, std::string_view package) {
  return std::ranges::count(options.versions, package, &NamedVersion::package) > 0;
}

void note_lacking(std::string_view dialect, const ingestion::Inputs& inputs, const IngestOptions& options,
                  const Draft& draft, Reading& out) {
  const ingestion::KeyFile& file = ingestion::key_file(dialect);
  const auto keys = ingestion::refused_by_version(file, inputs, draft);
  if (keys.empty()) return;
  const std::string_view framework = draft.plan.framework;
  const std::string_view package = framework.substr(0, framework.find(' '));
  out.refused = keys.front()->key;
  out.at = ingestion::origin_of(*keys.front()).where;
  const std::string_view lacks = ingestion::package_of(file, out.refused);
  out.version = std::string(lacks) + " " + framework_version(draft.plan, lacks);
  // What lies below may be older under the same framework; else the framework is.
  for (const std::string_view one : {lacks, package}) {
    if (is_named(options, one) || is_named(options, package)) continue;
    const auto versions = ingestion::versions_with(file, keys, one, draft.plan);
    out.others.insert(out.others.end(), versions.begin(), versions.end());
    if (lacks == package) break;
  }
}

Reading read_by(const Document& document, const IngestOptions& options) {
  Reading out;
  auto composed = ingestion::compose(document, options.loader);
  if (!composed) return {.plan = composed.errors()};
  const auto dialect = ingestion::recognise(composed->inputs, document, options.dialect);
  if (!dialect) return {.plan = dialect.errors()};
  Diagnostics errors;
  auto overrides = ingestion::parse_overrides(options.overrides, **dialect, errors);
  ingestion::add_world(options.world, overrides);
  ingestion::add_older_gpu(options.older_gpu, overrides);
  ingestion::add_trainer(options, **dialect, overrides);
  for (const auto& input : overrides.own) replace(composed->inputs, input);
  ingestion::Inputs& lengths = (*dialect)->has("lengths") ? composed->inputs : overrides.fields;
  const Diagnostics unread = ingestion::load_lengths(lengths, options.loader, composed->documents);
  errors.insert(errors.end(), unread.begin(), unread.end());
  Diagnostics beside;
  for (const Diagnostic& one : options.unread) (one.severity == Severity::error ? errors : beside).push_back(one);
  ingestion::ChosenVersions versions(options.versions);
  Draft draft = (*dialect)->read(composed->inputs, document);
  note_lacking((*dialect)->name, composed->inputs, options, draft, out);
  versions.report(draft);
  draft.plan.warnings.insert(draft.plan.warnings.end(), beside.begin(), beside.end());
  draft.plan.dialect = (*dialect)->name;
  ingestion::complete((*dialect)->plain, draft, document);
  ingestion::note_foreign_sizes(composed->inputs, **dialect, draft);
  ingestion::plan_deepspeed(composed->inputs, document, options.loader, composed->documents, draft);
  ingestion::apply_launch(options, **dialect, document, composed->documents, draft);
  draft.errors.insert(draft.errors.begin(), errors.begin(), errors.end());
  check_trainer(**dialect, overrides, draft);
  apply_fields(overrides.fields, options.world, draft);
  ingestion::apply_own_fsdp(composed->inputs, options, **dialect, document, composed->documents, draft);
  ingestion::finish_loader(draft.worker_a_rank, draft.plan);
  ingestion::finish_mesh(draft.plan);
  ingestion::choose_recipe(**dialect, document, draft);
  if ((*dialect)->spread != nullptr) (*dialect)->spread(composed->inputs, document, draft);
  ingestion::plan_zero_precision(draft, document);
  ingestion::check_zero_world(draft, document);
  ingestion::note_early_evaluation(composed->inputs, draft);
  if (draft.plan.mesh.sharding.value == Sharding::ddp) {
    ingestion::note_asking(composed->inputs, {"ddp_static_graph"}, "DDP's static graph", draft);
  }
  if (draft.bad_keys.empty()) ingestion::note_unplayed(draft.plan);
  if (draft.bad_keys.empty()) versions.note_unplayed(composed->inputs, draft);
  out.plan = finish(std::move(draft), document);
  return out;
}

Diagnostic assumed_version(const Reading& newest, const NamedVersion& taken) {
  const std::string version = taken.package + " " + taken.version;
  return {Severity::warning,
          "ingest/assumed-version",
          newest.refused + ": " + newest.version + " has no such argument; read as for " + version +
              ", the newest known that has all of the file's keys",
          newest.at,
          "--framework " + taken.package + "==… says which version runs",
          {}};
}

Result<TrainingPlan> ingest_config(const Document& document, const IngestOptions& options) {
  Reading newest = read_by(document, options);
  for (const NamedVersion& version : newest.others) {
    IngestOptions with = options;
    with.versions.insert(with.versions.begin(), version);
    Reading reading = read_by(document, with);
    if (!reading.refused.empty()) continue;
    Diagnostic assumed = assumed_version(newest, version);
    if (reading.plan) {
      if (reading.plan->recipe.trainer.origin.kind == Origin::Kind::assumed)
        assumed.hint += "; --trainer trainer, if a script around transformers' Trainer reads this file";
      reading.plan->warnings.insert(reading.plan->warnings.begin(), assumed);
      return std::move(reading.plan);
    }
    Diagnostics errors = reading.plan.errors();
    errors.push_back(assumed);
    return errors;
  }
  return std::move(newest.plan);
}

}  // namespace

Result<TrainingPlan> ingest(const Document& document, const IngestOptions& options) {
  if (!is_script(document.syntax)) return ingest_config(document, options);
  const Result<ingestion::ScriptConfig> config = ingestion::config_of(document, options.dialect);
  if (!config) return config.errors();
  IngestOptions as_config = options;
  as_config.dialect = config->dialect;
  return ingest_config(config->document, as_config);
}

std::vector<std::string_view> dialects() {
  std::vector<std::string_view> out;
  for (const Dialect* dialect : ingestion::registry()) out.push_back(dialect->name);
  return out;
}

std::vector<std::string_view> fact_names() {
  std::vector<std::string_view> out;
  for (const FactRow& row : facts()) out.push_back(row.name);
  return out;
}

std::optional<std::string> fact_of(const TrainingPlan& plan, std::string_view name) {
  const FactRow* row = find_fact(name);
  return row == nullptr ? std::nullopt : std::optional(row->write(plan));
}

const Origin* origin_of_fact(const TrainingPlan& plan, std::string_view name) {
  const FactRow* row = find_fact(name);
  return row == nullptr ? nullptr : &row->origin(plan);
}

bool set_fact(TrainingPlan& plan, std::string_view name, const Node& value) {
  const FactRow* row = find_fact(name);
  return row != nullptr && row->read(value, {Origin::Kind::assumed, "a fix", {}}, plan);
}

}  // namespace oomplan
