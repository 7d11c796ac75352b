#include "quantized_checkpoint.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dialect.hpp"
#include "dialects/unsloth/dynamic.hpp"
#include "oomplan/core/text.hpp"
#include "oomplan/plan/fact_table.hpp"
#include "stack.hpp"
#include "versions.hpp"

namespace oomplan::ingestion {
namespace {

bool is_of_unsloth(const Architecture& model) { return lowered(model.source).ends_with("-bnb-4bit"); }

Quantization kind_of(const QuantizedCheckpoint& checkpoint) {
  if (checkpoint.bits == 8) return Quantization::int8;
  return checkpoint.kind == "fp4" ? Quantization::fp4 : Quantization::nf4;
}

QuantStorage storage_of(const QuantizedCheckpoint& checkpoint) {
  if (checkpoint.storage == "bfloat16") return QuantStorage::bf16;
  if (checkpoint.storage == "float16") return QuantStorage::fp16;
  return checkpoint.storage == "float32" ? QuantStorage::fp32 : QuantStorage::uint8;
}

QuantizationFacts facts_of(const Architecture& model) {
  const QuantizedCheckpoint& checkpoint = *model.quantized;
  const Origin origin{.kind = Origin::Kind::model, .source = "quantization_config of " + printable(model.source)};
  QuantizationFacts out;
  out.kind = {kind_of(checkpoint), origin};
  out.double_quantization = {checkpoint.nested, origin};
  out.compute_dtype = {checkpoint.compute, origin};
  out.storage = {storage_of(checkpoint), origin};
  out.skipped = {checkpoint.skipped.value_or(std::vector<std::string>{}), origin};
  out.checkpoint = {0, origin};
  return out;
}

/// What Unsloth's loader quantizes in is what its checkpoints have, where an output of its notebooks shows one
/// (unslothai/notebooks at bdda2ef: Mistral 7B Instruct v0.3, Phi-4, and two of which it chose the layers).
QuantizationFacts usual_of_unsloth(const Architecture& model) {
  const Origin origin = assumed("Unsloth's checkpoints in 4 bits are so, as far as outputs of its notebooks show them");
  QuantizationFacts out = stack_of("unsloth-2026.8").plan().quantization;
  out.kind.origin = out.double_quantization.origin = out.compute_dtype.origin = out.storage.origin = origin;
  out.skipped = {{}, origin};
  out.checkpoint = {0, origin};
  unsloth::choose_layers(model.source, out);
  return out;
}

/// Whether --set says the fact by its name, and not a key of the framework's that it follows from.
bool is_set(const Origin& origin, const Dialect& dialect) {
  if (origin.kind != Origin::Kind::command_line) return false;
  const std::string_view key = std::string_view(origin.source).substr(0, origin.source.find('='));
  return key.starts_with("plan.") || (find_fact(key) != nullptr && !dialect.has(key));
}

/// Where a file of facts says one, or --set does, that counts.
template <class T>
void put(Setting<T>& fact, Setting<T> found, const Dialect& dialect) {
  const bool counts = is_set(fact.origin, dialect) || (dialect.plain && fact.origin.is_said());
  if (!counts) fact = std::move(found);
}

void put(QuantizationFacts& facts, const QuantizationFacts& found, const Dialect& dialect) {
  put(facts.kind, found.kind, dialect);
  put(facts.double_quantization, found.double_quantization, dialect);
  put(facts.compute_dtype, found.compute_dtype, dialect);
  put(facts.storage, found.storage, dialect);
  put(facts.skipped, found.skipped, dialect);
  put(facts.checkpoint, found.checkpoint, dialect);
}

// transformers 5.21: quantizers/base.py, get_new_dtype. What a deserializer may be asked about, every weight, is loaded
// as the checkpoint has it. Before, the others were cast to what from_pretrained is asked for.
void keep_types(TrainingPlan& plan, const Architecture& model) {
  Setting<WeightsDType>& dtype = plan.precision.weights_dtype;
  const std::string_view asked = weights_dtype_names[static_cast<std::size_t>(dtype.value)];
  if (dtype.value == WeightsDType::checkpoint || asked == name_of(model.checkpoint_dtype)) return;
  const std::string transformers(version_behind("transformers", plan.framework));
  if (transformers.empty() || is_older(transformers, "5.21")) {
    plan.unmodelled.push_back({"another type than the checkpoint's, beside weights that it has quantized,",
                               std::string(asked), dtype.origin.where});
    return;
  }
  dtype = {WeightsDType::checkpoint,
           {.kind = Origin::Kind::framework_default,
            .source = "transformers " + transformers + ": HfQuantizer.get_new_dtype"}};
}

// trl 1.16.0: RewardTrainer trains the head whole, and what a list leaves out of those that stay is quantized.
bool quantizes_scores(const TrainingPlan& plan, const QuantizedCheckpoint& checkpoint) {
  return plan.recipe.trainer.value == "reward" && checkpoint.skipped &&
         std::ranges::count(*checkpoint.skipped, "score") == 0;
}

/// What of such a run nobody measured; empty: nothing.
std::string not_played(const TrainingPlan& plan, const Architecture& model, const Dialect* dialect) {
  const std::string weights = "weights quantized in the checkpoint (bitsandbytes)";
  const bool read = dialect != nullptr && (dialect->plain || dialect->take_quantized != nullptr);
  if (!read || (!model.quantized->seen && !is_of_unsloth(model))) return weights;
  if (has_tower(model)) return weights + " of a model that sees or hears";
  const std::string transformers(version_behind("transformers", plan.framework));
  if (!transformers.empty() && is_older(transformers, "4.49")) return weights + " under transformers " + transformers;
  // What transformers 5 joins to one parameter no longer loads from checkpoints that have it expert by expert.
  if (has_experts(model)) return weights + " of a mixture of experts";
  if (!model.names_dtype && !model.unseen_dtype) return weights + " whose config.json names no type of the others";
  if (quantizes_scores(plan, *model.quantized)) return weights + ", a head of scores too";
  if (!holds_whole(plan.mesh)) return weights + " of a model that ranks share";
  const auto& skipped = model.quantized->skipped;
  return skipped && skipped->empty() ? weights + ", the head too" : "";
}

}  // namespace

bool has_experts(const Architecture& model) {
  return any_op(model, [](const OpSpec& spec) { return spec.op.find("moe") != std::string::npos; });
}

std::optional<Diagnostic> take_quantized_checkpoint(TrainingPlan& plan, const Architecture& model) {
  if (!model.quantized) return std::nullopt;
  const Dialect* dialect = find_dialect(plan.dialect);
  const Quantization asked = plan.quantization.kind.value;
  const Origin& name = plan.model.name.origin;
  if (const std::string feature = not_played(plan, model, dialect); !feature.empty()) {
    plan.unmodelled.push_back({feature, printable(model.source), name.where});
    return std::nullopt;
  }
  put(plan.quantization, model.quantized->seen ? facts_of(model) : usual_of_unsloth(model), *dialect);
  keep_types(plan, model);
  if (plan.quantization.kind.value != Quantization::none && plan.adapter.kind.value == Adapter::none) {
    return Diagnostic{.code = "ingest/conflict",
                      .message = printable(model.source) +
                                 ": the checkpoint's weights are quantized, and such are not trained without an "
                                 "adapter: transformers' Trainer refuses them",
                      .where = name.where};
  }
  return dialect->plain ? std::nullopt : dialect->take_quantized(plan, asked);
}

}  // namespace oomplan::ingestion
