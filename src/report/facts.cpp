#include "facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "oomplan/text.hpp"

namespace oomplan::report {
namespace {

template <class T>
FactValue value_of(const T& value) {
  return FactValue(value);
}
template <class T>
requires std::is_enum_v<T> FactValue value_of(const T&)
= delete;  // Needs its table of names.
FactValue value_of(DType dtype) { return std::string(name_of(dtype)); }

template <class T>
Fact fact(std::string_view name, const Setting<T>& setting) {
  return {std::string(name), value_of(setting.value), setting.origin};
}

template <class E, std::size_t N>
Fact fact(std::string_view name, const Setting<E>& setting, const std::array<std::string_view, N>& names) {
  return {std::string(name), std::string(names.at(static_cast<std::size_t>(setting.value))), setting.origin};
}

Fact lengths_fact(const Setting<std::vector<std::int64_t>>& lengths) {
  const auto [least, most] = std::ranges::minmax(lengths.value);
  return {"lengths", fmt::format("{} steps of {} to {} tokens", lengths.value.size(), least, most), lengths.origin};
}

std::vector<Fact> size_facts(const TrainingPlan& plan) {
  std::vector<Fact> facts{fact("trainer", plan.recipe.trainer),
                          fact("model", plan.model.name),
                          fact("micro_batch_size", plan.batch.micro_batch_size),
                          fact("sequence_length", plan.batch.sequence_length),
                          fact("gradient_accumulation_steps", plan.batch.gradient_accumulation_steps),
                          fact("padding_mask", plan.batch.padding_mask),
                          fact("weights_dtype", plan.precision.weights_dtype, weights_dtype_names),
                          fact("fp32_norms", plan.precision.fp32_norms),
                          fact("fp32_while_loading", plan.precision.fp32_while_loading),
                          fact("autocast", plan.precision.autocast, autocast_names),
                          fact("adapter", plan.adapter.kind, adapter_names)};
  if (!plan.batch.lengths.value.empty()) facts.push_back(lengths_fact(plan.batch.lengths));
  return facts;
}

std::vector<Fact> adapter_facts(const TrainingPlan& plan) {
  if (plan.adapter.kind.value == Adapter::none) return {};
  return {
      fact("lora_rank", plan.adapter.rank),           fact("lora_targets", plan.adapter.targets),
      fact("lora_dropout", plan.adapter.dropout),     fact("adapter_dtype", plan.adapter.dtype, adapter_dtype_names),
      fact("lora_qkv_kernel", plan.kernels.lora_qkv), fact("lora_o_kernel", plan.kernels.lora_o),
      fact("lora_mlp_kernel", plan.kernels.lora_mlp)};
}

std::vector<Fact> quantization_facts(const TrainingPlan& plan) {
  std::vector<Fact> facts{fact("quantization", plan.quantization.kind, quantization_names)};
  if (plan.quantization.kind.value == Quantization::none) return facts;
  facts.push_back(fact("double_quantization", plan.quantization.double_quantization));
  facts.push_back(fact("quantization_compute_dtype", plan.quantization.compute_dtype));
  facts.push_back(fact("quantized_linear", plan.quantization.linear, quantized_linear_names));
  facts.push_back(fact("kbit_upcast", plan.quantization.kbit_upcast));
  return facts;
}

std::vector<Fact> step_facts(const TrainingPlan& plan) {
  std::vector<Fact> facts{fact("optimizer", plan.optimizer.name), fact("clip_gradients", plan.optimizer.clip_gradients),
                          fact("gradient_checkpointing", plan.checkpointing.on)};
  if (plan.checkpointing.on.value) facts.push_back(fact("reentrant_checkpointing", plan.checkpointing.reentrant));
  for (Fact& row : std::vector<Fact>{
           fact("attention", plan.kernels.attention, attention_names), fact("loss", plan.recipe.loss, loss_names),
           fact("outputs_kept", plan.recipe.outputs_kept), fact("outputs_to_fp32", plan.precision.outputs_to_fp32),
           fact("fp32_embedding_state", plan.optimizer.fp32_embedding_state),
           fact("set_grads_to_none", plan.optimizer.set_grads_to_none), fact("use_cache", plan.recipe.use_cache),
           fact("alloc_conf", plan.runtime.alloc_conf)}) {
    facts.push_back(std::move(row));
  }
  return facts;
}

std::vector<Fact> evaluation_facts(const TrainingPlan& plan) {
  if (!plan.evaluation.evaluates.value) return {};
  std::vector<Fact> facts{fact("evaluates", plan.evaluation.evaluates)};
  if (plan.evaluation.rows.value > 0) facts.push_back(fact("evaluation_rows", plan.evaluation.rows));
  if (plan.evaluation.length.value > 0) facts.push_back(fact("evaluation_length", plan.evaluation.length));
  facts.push_back(fact("evaluation_padded", plan.evaluation.padded));
  return facts;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

struct ToText {
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value.empty() ? "\"\"" : value; }
  std::string operator()(const std::vector<std::string>& value) const { return joined(value); }
};

}  // namespace

std::vector<Fact> facts_of(const TrainingPlan& plan) {
  std::vector<Fact> facts;
  for (auto group : {size_facts, adapter_facts, quantization_facts, step_facts, evaluation_facts}) {
    for (Fact& row : group(plan)) facts.push_back(std::move(row));
  }
  return facts;
}

void add_loader_facts(const LoaderPlan& loader, std::vector<Fact>& facts) {
  const auto add = [&](const Fact& row) { facts.push_back(row); };
  add(fact("ranks", loader.ranks));
  add(fact("loader_workers", loader.workers));
  if (loader.workers.value > 0) {
    add(fact("loader_prefetch", loader.prefetch));
    add(fact("loader_start", loader.start, worker_start_names));
    add(fact("loader_persistent", loader.persistent));
    add(fact("loader_epochs", loader.epochs));
    add(fact("loader_shuffle", loader.shuffle));
  }
  add(fact("loader_pin_memory", loader.pin_memory));
  add(fact("loader_rows_as", loader.rows_as, rows_as_names));
  add(fact("loader_values", loader.values, row_values_names));
  add(fact("loader_row_values", loader.row_values));
  add(fact("loader_padded", loader.padded));
  add(fact("loader_packed", loader.packed));
  add(fact("loader_columns", loader.columns));
  if (loader.rows_as.value == RowsAs::stream) add(fact("loader_shuffle_buffer", loader.shuffle_buffer));
  add(fact("loader_map_processes", loader.map_processes));
  if (loader.map_processes.value == 0) add(fact("loader_map_a_core", loader.map_a_core));
  add(fact("loader_libraries", loader.libraries));
}

void resolve_facts(std::vector<Fact>& facts, const Architecture& model) {
  for (Fact& fact : facts) {
    if (fact.name != "weights_dtype" || to_text(fact.value) != "checkpoint") continue;
    fact.resolved = name_of(model.checkpoint_dtype);
    if (model.names_dtype) continue;
    std::string& how = fact.origin.derivation;
    how += (how.empty() ? "" : ", ") + std::string("fp32 assumed, as the model's config.json names no dtype");
  }
}

std::string to_text(const FactValue& value) { return printable(std::visit(ToText{}, value)); }

std::string derivation_of(const Fact& fact) {
  const Origin& origin = fact.origin;
  const bool differs = printable(origin.written) != to_text(fact.value) || !origin.derivation.empty();
  if (origin.kind != Origin::Kind::config || origin.written.empty() || !differs) return printable(origin.derivation);
  const std::string line = printable(origin.source) + ": " + printable(origin.written);
  return line + (origin.derivation.empty() ? "" : ", " + printable(origin.derivation));
}

std::string_view name_of(Origin::Kind kind) {
  constexpr std::array<std::string_view, 5> names{"assumed", "framework_default", "model", "config", "command_line"};
  return names.at(static_cast<std::size_t>(kind));
}

std::string to_text(const Origin& origin) {
  switch (origin.kind) {
    case Origin::Kind::assumed:
      return origin.source.empty() ? "assumed" : "assumed: " + origin.source;
    case Origin::Kind::framework_default:
      return "default of " + origin.source;
    case Origin::Kind::model:
      return origin.source.empty() ? "the model's own config" : printable(origin.source);
    case Origin::Kind::config:
      return fmt::format("{}:{}", printable(origin.where.file), origin.where.line);
    case Origin::Kind::command_line:
      return "command line: " + printable(origin.source);
  }
  return {};
}

}  // namespace oomplan::report
