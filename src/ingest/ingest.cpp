#include "oomplan/ingest/ingest.hpp"

#include <iterator>
#include <utility>

#include "compose.hpp"
#include "evaluation.hpp"
#include "loader_facts.hpp"
#include "oomplan/plan/fact_table.hpp"
#include "overrides.hpp"
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

}  // namespace

Result<TrainingPlan> ingest(const Document& document, const IngestOptions& options) {
  auto composed = ingestion::compose(document, options.loader);
  if (!composed) return composed.errors();
  const auto dialect = ingestion::recognise(composed->inputs, document, options.dialect);
  if (!dialect) return dialect.errors();
  Diagnostics errors;
  auto overrides = ingestion::parse_overrides(options.overrides, **dialect, errors);
  ingestion::add_world(options.world, overrides);
  ingestion::add_trainer(options, **dialect, overrides);
  for (const auto& input : overrides.own) replace(composed->inputs, input);
  ingestion::Inputs& lengths = (*dialect)->has("lengths") ? composed->inputs : overrides.fields;
  const Diagnostics unread = ingestion::load_lengths(lengths, options.loader, composed->documents);
  errors.insert(errors.end(), unread.begin(), unread.end());
  Diagnostics beside;
  for (const Diagnostic& one : options.unread) (one.severity == Severity::error ? errors : beside).push_back(one);
  ingestion::ChosenVersions versions(options.versions);
  Draft draft = (*dialect)->read(composed->inputs, document);
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
  ingestion::plan_zero_precision(draft, document);
  ingestion::check_zero_world(draft, document);
  ingestion::note_early_evaluation(composed->inputs, draft);
  if (draft.plan.mesh.sharding.value == Sharding::ddp) {
    ingestion::note_asking(composed->inputs, {"ddp_static_graph"}, "DDP's static graph", draft);
  }
  if (draft.bad_keys.empty()) ingestion::note_unplayed(draft.plan);
  if (draft.bad_keys.empty()) versions.note_unplayed(composed->inputs, draft);
  return finish(std::move(draft), document);
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
