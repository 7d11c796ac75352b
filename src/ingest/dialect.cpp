#include "dialect.hpp"

#include <algorithm>
#include <iterator>

#include "oomplan/core/bytes.hpp"

namespace oomplan::ingestion {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>&& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// "the 2 rows of micro_batch_size"; what the command line says stays visible.
std::string rows_of(const Setting<std::int64_t>& rows, std::string_view key) {
  const bool set = rows.origin.kind == Origin::Kind::command_line;
  return "the " + std::to_string(rows.value) + " rows of " + (set ? "--set " + rows.origin.source : std::string(key));
}

}  // namespace

std::vector<std::string_view> Dialect::keys() const {
  if (!plain) return keys_of(key_file(name), features);
  std::vector<std::string_view> out{"framework", "unmodelled"};
  for (const FactRow& fact : facts()) out.push_back(fact.name);
  return out;
}

bool Dialect::has(std::string_view key) const { return std::ranges::count(keys(), key) > 0; }

Origin assumed(std::string_view source) { return {.kind = Origin::Kind::assumed, .source = std::string(source)}; }

void derive(Origin& origin, std::string_view how) {
  origin.derivation += (origin.derivation.empty() ? "" : ", ") + std::string(how);
}

void pack_rows(TrainingPlan& plan, const Origin& packing, std::string_view rows_key) {
  if (plan.batch.micro_batch_size.value == 1) return;
  const std::string rows = rows_of(plan.batch.micro_batch_size, rows_key);
  plan.batch.sequence_length.value =
      saturating_mul(plan.batch.sequence_length.value, plan.batch.micro_batch_size.value);
  derive(plan.batch.sequence_length.origin, "times " + rows + ", packed into one");
  plan.batch.micro_batch_size = {1, packing};
  derive(plan.batch.micro_batch_size.origin, "which packs " + rows + " into one");
}

std::int64_t padded_to(std::int64_t length, std::int64_t multiple) {
  return saturating_add(length, multiple - 1) / multiple * multiple;
}

void pad_rows(TrainingPlan& plan, std::int64_t multiple) {
  std::int64_t& length = plan.batch.sequence_length.value;
  const std::int64_t padded = padded_to(length, multiple);
  if (padded == length) return;
  length = padded;
  derive(plan.batch.sequence_length.origin, "padded up to a multiple of " + std::to_string(multiple));
}

void begin(Draft& draft, const Stack& stack, const Arguments& arguments) {
  TrainingPlan plan = stack.plan();
  plan.warnings = std::move(draft.plan.warnings);
  plan.unmodelled = std::move(draft.plan.unmodelled);
  draft.plan = std::move(plan);
  arguments.set_facts(draft.plan);
}

void complete(bool plain, Draft& draft, const Document& document) {
  if (!plain && !draft.bad_keys.empty()) return;
  for (const FactRow& fact : facts()) {
    const Origin& origin = fact.origin(draft.plan);
    const bool said = origin.kind != Origin::Kind::assumed || !origin.source.empty();
    if (said || std::ranges::count(draft.missing, fact.name, &Missing::field) > 0) continue;
    const std::string name(fact.name);
    const std::string why = name + (plain ? " is not given" : " is not given, and the stack has no default of it");
    const std::string hint = plain ? "add " + name + ": … or --set " + name + "=…" : "--set plan." + name + "=…";
    miss(draft, document, fact.name, {fact.name}, why, hint);
  }
}

void plan_supervised(TrainingPlan& plan) {
  const Origin& trainer = plan.recipe.trainer.origin;
  plan.recipe.kind = {RecipeKind::supervised, trainer};
  plan.recipe.reference = {Reference::none, trainer};
  plan.recipe.reference_rows = {0, trainer};
  plan.recipe.second_term = {false, trainer};
  plan.recipe.rollout_batches = {0, trainer};
  plan.recipe.rollout_iterations = {1, trainer};
  plan.recipe.generation = {Generation::elsewhere, trainer};
  plan.recipe.vllm_share = {0, trainer};
  plan.recipe.vllm_sleeps = {false, trainer};
  plan.recipe.sampling = {{}, trainer};
  plan.recipe.divergence = {Divergence::mixed, trainer};
  plan.model.teacher = {"", trainer};
  plan.model.teacher_dtype = {WeightsDType::checkpoint, trainer};
}

void take(Draft& draft, Findings&& findings) {
  append(draft.errors, std::move(findings.errors));
  append(draft.bad_keys, std::move(findings.bad_keys));
  append(draft.plan.warnings, std::move(findings.warnings));
  append(draft.plan.unmodelled, std::move(findings.unmodelled));
}

Arguments read_arguments(std::string_view dialect, std::span<const Feature> features, const Inputs& inputs,
                         Draft& draft) {
  Arguments out(arguments_of(dialect));
  Findings findings;
  read_rows({out.rows(), features, &key_file(dialect)}, inputs, findings);
  take(draft, std::move(findings));
  return out;
}

void miss(Draft& draft, const Document& document, std::string_view field, std::initializer_list<std::string_view> keys,
          const std::string& message, const std::string& hint) {
  for (const std::string_view key : keys) {
    if (std::ranges::count(draft.bad_keys, key) > 0) return;
  }
  const Location whole{document.file, 0, 0};
  draft.missing.push_back({std::string(field), {Severity::error, "ingest/missing-fact", message, whole, hint, {}}});
}

void accumulate(const Arg<std::int64_t>& steps, Draft& draft, const Document& document) {
  if (!steps.value) return;
  auto& accumulation = draft.plan.batch.gradient_accumulation_steps;
  if (accumulation.value <= 1) {
    accumulation = {*steps.value, steps.origin};
    return;
  }
  conflict(draft, steps.origin, document,
           "transformers' Trainer refuses num_steps in gradient_accumulation_kwargs beside gradient_accumulation_steps "
           "of more than 1");
}

namespace {

/// What of fp16 the optimizer trains; empty where it is nothing. peft copies modules in the dtype that they have
/// (utils/other.py: ModulesToSaveWrapper), and raises its adapters alone (tuners_utils.py: cast_adapter_dtype).
std::string trained_halves(const TrainingPlan& plan) {
  const bool half = plan.precision.weights_dtype.value == WeightsDType::fp16;
  const AdapterFacts& adapter = plan.adapter;
  if (adapter.kind.value == Adapter::none) return half ? "fp16 weights" : "";
  const bool quantized = plan.quantization.kind.value != Quantization::none;
  if (half && !quantized && adapter.dtype.value == AdapterDType::as_base) return "adapters in fp16";
  const bool raised = plan.precision.trained_to_fp32.value || (quantized && plan.quantization.kbit_upcast.value) ||
                      adapter.dtype.value == AdapterDType::bf16;
  return half && !raised && !adapter.modules_to_save.value.empty() ? "copies of modules in fp16" : "";
}

}  // namespace

void refuse_scaled_half(Draft& draft, const Document& document) {
  const TrainingPlan& plan = draft.plan;
  const std::string halves = trained_halves(plan);
  if (plan.precision.autocast.value != Autocast::fp16 || halves.empty()) return;
  conflict(draft, plan.precision.autocast.origin, document,
           halves + " cannot be trained under fp16 autocast: torch's gradient scaler refuses their gradients");
}

void conflict(Draft& draft, const Origin& at, const Document& document, std::string message) {
  Diagnostic error{Severity::error, "ingest/conflict", std::move(message), at.where, {}, {}};
  if (at.kind == Origin::Kind::command_line) error.where = {"--set " + at.source, 0, 0};
  if (error.where.file.empty()) error.where.file = document.file;
  error.excerpt = std::string(document.excerpt(error.where));
  draft.errors.push_back(std::move(error));
}

}  // namespace oomplan::ingestion
