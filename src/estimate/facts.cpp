#include "facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "objective.hpp"
#include "optimizer.hpp"

namespace oomplan::estimator {
namespace {

Diagnostic unmodelled(std::string message, const Origin& origin) {
  Diagnostic d;
  d.code = "estimate/unmodelled";
  d.message = std::move(message);
  d.where = origin.where;
  return d;
}

DType resolved(WeightsDType weights, const Architecture& architecture) {
  switch (weights) {
    case WeightsDType::checkpoint:
      return architecture.checkpoint_dtype;
    case WeightsDType::fp32:
      return DType::fp32;
    case WeightsDType::bf16:
      return DType::bf16;
    case WeightsDType::fp16:
      return DType::fp16;
  }
  return DType::fp32;
}

DType resolved(AdapterDType adapter, DType base) {
  return adapter == AdapterDType::fp32 ? DType::fp32 : adapter == AdapterDType::bf16 ? DType::bf16 : base;
}

// Sizes up to these leave room in 64 bits for what an op adds to them; products of them saturate.
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;
constexpr std::int64_t highest_rank = std::int64_t{1} << 31;

Diagnostic too_large(const std::string& what, const Origin& origin) {
  Diagnostic d;
  d.code = "estimate/too-large";
  d.message = fmt::format("{} tensors larger than any memory", what);
  d.where = origin.where;
  return d;
}

std::int64_t evaluation_tokens(const TrainingPlan& plan) {
  const std::int64_t rows = plan.evaluation_rows.value;
  const std::int64_t length = plan.evaluation_length.value;
  return saturating_mul(rows > 0 ? rows : plan.micro_batch_size.value,
                        length > 0 ? length : plan.sequence_length.value);
}

void check_sizes(const TrainingPlan& plan, Diagnostics& errors) {
  if (saturating_mul(plan.micro_batch_size.value, plan.sequence_length.value) > most_tokens) {
    errors.push_back(too_large_batch(plan));
  }
  if (plan.evaluates.value && evaluation_tokens(plan) > most_tokens) {
    errors.push_back(too_large(fmt::format("a batch of {} tokens in evaluation makes", evaluation_tokens(plan)),
                               plan.evaluation_rows.origin));
  }
  const auto longest = std::ranges::max_element(plan.lengths.value);
  if (longest != plan.lengths.value.end() && *longest > plan.sequence_length.value) {
    Diagnostic d;
    d.code = "estimate/too-long";
    d.message =
        fmt::format("lengths: {} tokens are more than sequence_length, {}", *longest, plan.sequence_length.value);
    d.where = plan.lengths.origin.where;
    errors.push_back(std::move(d));
  }
  if (plan.adapter.value == Adapter::lora && plan.lora_rank.value > highest_rank) {
    errors.push_back(too_large(fmt::format("a LoRA rank of {} makes", plan.lora_rank.value), plan.lora_rank.origin));
  }
}

// A config that names an optimizer by its framework's name has it among the plan's gaps already.
void check_optimizer(const TrainingPlan& plan, Diagnostics& errors) {
  const std::string& name = plan.optimizer.value;
  const bool said = std::ranges::count(plan.unmodelled, "optimizer " + name, &Unmodelled::feature) > 0;
  if (said || make_optimizer(name) != nullptr) return;
  errors.push_back(unmodelled(fmt::format("optimizer \"{}\" is not modelled yet", name), plan.optimizer.origin));
}

void check(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  for (const Unmodelled& gap : plan.unmodelled) errors.push_back(error_of(gap));
  for (const std::string& feature : architecture.not_played) {
    errors.push_back(
        unmodelled(fmt::format("{}: {} is not modelled yet", architecture.source, feature), plan.model.origin));
  }
  if (find_objective(plan.loss.value, architecture.task) == nullptr) {
    errors.push_back(unmodelled(fmt::format("the loss {} is not modelled for {} models",
                                            loss_names[static_cast<std::size_t>(plan.loss.value)],
                                            task_names[static_cast<std::size_t>(architecture.task)]),
                                plan.loss.origin));
  }
  if (plan.use_cache.value && !plan.gradient_checkpointing.value) {
    errors.push_back(unmodelled("a key-value cache in training is not modelled yet", plan.use_cache.origin));
  }
  check_optimizer(plan, errors);
  if (plan.quantization.value != Quantization::none && plan.adapter.value == Adapter::none) {
    errors.push_back(unmodelled("training 4-bit weights without an adapter is not possible", plan.quantization.origin));
  }
  if (plan.use_cache.value && plan.evaluates.value) {
    errors.push_back(unmodelled("a key-value cache in evaluation is not modelled yet", plan.use_cache.origin));
  }
  if (architecture.max_positions > 0 && plan.sequence_length.value > architecture.max_positions) {
    Diagnostic d;
    d.code = "estimate/too-long";
    d.message = fmt::format("a sequence of {} tokens is longer than the {} positions of {}", plan.sequence_length.value,
                            architecture.max_positions, architecture.source);
    d.where = plan.sequence_length.origin.where;
    errors.push_back(std::move(d));
  }
}

}  // namespace

Diagnostic too_large_batch(const TrainingPlan& plan) {
  return too_large(fmt::format("{} rows of {} tokens make", plan.micro_batch_size.value, plan.sequence_length.value),
                   plan.sequence_length.origin);
}

Result<Facts> resolve(const TrainingPlan& plan, const Architecture& architecture) {
  Diagnostics errors;
  check(plan, architecture, errors);
  check_sizes(plan, errors);
  if (!errors.empty()) return errors;
  Facts f;
  f.batch = plan.micro_batch_size.value;
  f.length = plan.sequence_length.value;
  f.weights = resolved(plan.weights_dtype.value, architecture);
  f.quantized = plan.quantization.value != Quantization::none;
  f.kbit_upcast = f.quantized && plan.kbit_upcast.value;
  if (plan.autocast.value != Autocast::none) {
    f.autocast = plan.autocast.value == Autocast::bf16 ? DType::bf16 : DType::fp16;
  }
  f.lora = plan.adapter.value == Adapter::lora;
  f.lora_rank = plan.lora_rank.value;
  f.lora_targets = plan.lora_targets.value;
  f.lora_targets_at = plan.lora_targets.origin.where;
  f.lora_dropout = plan.lora_dropout.value;
  f.adapter = resolved(plan.adapter_dtype.value, f.weights);
  // peft takes a 4-bit layer's compute dtype for its base (tuners_utils.py: _get_base_layer_device_and_dtype), and
  // casts no adapter to a type of integers.
  f.bitsandbytes = plan.quantized_linear.value == QuantizedLinear::bitsandbytes;
  f.quantized_adapter =
      resolved(plan.adapter_dtype.value, f.bitsandbytes ? plan.quantization_compute_dtype.value : DType::fp32);
  f.lora_qkv_kernel = plan.lora_qkv_kernel.value;
  f.lora_o_kernel = plan.lora_o_kernel.value;
  f.lora_mlp_kernel = plan.lora_mlp_kernel.value;
  f.double_quantized = plan.double_quantization.value;
  f.quantized_compute = plan.quantization_compute_dtype.value;
  f.checkpointing = plan.gradient_checkpointing.value;
  f.reentrant = plan.reentrant_checkpointing.value;
  f.attention = plan.attention.value;
  f.padding_mask = plan.padding_mask.value;
  f.fp32_norms = plan.fp32_norms.value;
  f.fp32_while_loading = plan.fp32_while_loading.value;
  f.objective = find_objective(plan.loss.value, architecture.task);
  return f;
}

}  // namespace oomplan::estimator
