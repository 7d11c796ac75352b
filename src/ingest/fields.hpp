// Each field of the plan once: its name, where it lives, how it is written.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lengths.hpp"
#include "oomplan/trainer.hpp"
#include "rows.hpp"

namespace oomplan::ingestion {

/// The plan's own keys, in the order of plan.hpp: the plain dialect's table, and what --set takes in every dialect.
std::span<const Row<TrainingPlan>> plan_rows();

const Row<TrainingPlan>* find_plan_row(std::string_view name);

namespace as {
inline constexpr auto trainer_words = [] {
  std::array<std::string_view, trainer_names.size()> out{};
  std::ranges::transform(trainer_names, out.begin(), &TrainerName::name);
  return out;
}();
/// One of trainer_names.
inline constexpr Codec<std::string> trainer{
    "a trainer (sft, dpo, kto, orpo, cpo, reward, grpo, trainer, …)",
    [](const Node& node) -> std::optional<std::string> {
      const auto index = read_choice(node, trainer_words.data(), trainer_words.size());
      return index ? std::optional(std::string(trainer_words.at(*index))) : std::nullopt;
    },
    write_text, trainer_words.data(), trainer_words.size()};
inline constexpr auto autocast = choice<Autocast, autocast_names>("one of none, bf16, fp16");
inline constexpr auto adapter = choice<Adapter, adapter_names>("one of none, lora");
inline constexpr auto quantization = choice<Quantization, quantization_names>("one of none, nf4, fp4");
inline constexpr auto quantized_linear =
    choice<QuantizedLinear, quantized_linear_names>("one of bitsandbytes, torch_linear");
inline constexpr auto attention = choice<Attention, attention_names>("one of eager, sdpa, flash_attention_2");
inline constexpr auto loss =
    choice<Loss, loss_names>("one of full_logits, chunked_logprob, liger_fused_linear, liger_0_8_0_fused_linear");
inline constexpr auto recipe = choice<RecipeKind, recipe_names>("one of supervised, dpo");
inline constexpr auto reference = choice<Reference, reference_names>("one of none, adapter_off, model, precomputed");
inline constexpr auto weights_dtype = choice<WeightsDType, weights_dtype_names>("one of checkpoint, fp32, bf16, fp16");
inline constexpr auto worker_start = choice<WorkerStart, worker_start_names>("one of fork, spawn, forkserver");
inline constexpr auto rows_as = choice<RowsAs, rows_as_names>("one of list, numpy, arrow, mapped, stream");
inline constexpr auto row_values = choice<RowValues, row_values_names>("one of int64, int32, int16, bytes");
inline constexpr auto adapter_dtype = choice<AdapterDType, adapter_dtype_names>("one of fp32, bf16, as_base");
}  // namespace as

}  // namespace oomplan::ingestion
