// How one value is read from a config and written to one, by its type and by its range.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oomplan/plan/plan.hpp"
#include "oomplan/plan/trainer.hpp"
#include "oomplan/read/document.hpp"

namespace oomplan::planning {

/// `read` gives nothing where the value is not what `expected` says.
template <class T>
struct Codec {
  std::string_view expected{};
  std::optional<T> (*read)(const Node&) = nullptr;
  std::string (*write)(const T&) = nullptr;
  const std::string_view* names = nullptr;  ///< The values of an enumeration, for "did you mean".
  std::size_t name_count = 0;
};

/// Text that YAML reads back as the same string: plain where that is safe, else quoted.
std::string yaml_text(std::string_view text);
/// "[a, b]".
std::string yaml_list(const std::vector<std::string>& items);

std::string write_boolean(const bool& value);
std::string write_integer(const std::int64_t& value);
std::string write_number(const double& value);
std::string write_text(const std::string& value);

std::optional<std::int64_t> read_positive(const Node& node);
std::optional<std::int64_t> read_count(const Node& node);
std::optional<std::int64_t> read_integer(const Node& node);
/// A count, or "unknown".
std::optional<std::int64_t> read_images(const Node& node);
std::string write_images(const std::int64_t& value);
/// A count, as DeepSpeed takes it (5e8), or "auto".
std::optional<std::int64_t> read_elements(const Node& node);
std::string write_elements(const std::int64_t& value);
std::optional<bool> read_boolean(const Node& node);
std::optional<double> read_number(const Node& node);
std::optional<double> read_fraction(const Node& node);
std::optional<std::string> read_text(const Node& node);
std::optional<std::string> read_text_or_nothing(const Node& node);
std::optional<std::vector<std::string>> read_names(const Node& node);
/// Of sampling_names, in their order.
std::optional<std::vector<std::string>> read_sampling(const Node& node);
std::optional<std::vector<std::string>> read_numbers(const Node& node);
/// [0, 4]
std::string write_numbers(const std::vector<std::string>& numbers);
std::optional<DType> read_float_dtype(const Node& node);
std::string write_dtype(const DType& value);

/// The codecs, to be read with their row: "as::positive".
namespace as {
inline constexpr Codec<std::int64_t> positive{"a positive integer", read_positive, write_integer};
inline constexpr Codec<std::int64_t> count{"an integer, 0 or more", read_count, write_integer};
inline constexpr Codec<std::int64_t> integer{"an integer", read_integer, write_integer};
inline constexpr Codec<std::int64_t> images{"an integer, 0 or more, or unknown", read_images, write_images};
inline constexpr Codec<std::int64_t> elements{"an integer, 0 or more, or auto", read_elements, write_elements};
inline constexpr Codec<bool> boolean{"true or false", read_boolean, write_boolean};
inline constexpr Codec<double> number{"a number", read_number, write_number};
inline constexpr Codec<double> fraction{"a number from 0 up to, not including, 1", read_fraction, write_number};
inline constexpr Codec<std::string> text{"a text", read_text, write_text};
inline constexpr Codec<std::string> text_or_nothing{"a text", read_text_or_nothing, write_text};
inline constexpr Codec<std::vector<std::string>> names{"a name or a list of names", read_names, yaml_list};
inline constexpr Codec<std::vector<std::string>> numbers{"an integer, 0 or more, or a list of such", read_numbers,
                                                         write_numbers};
inline constexpr Codec<std::vector<std::string>> sampling{
    "a list of some of repetition_penalty, temperature, top_k, top_p, min_p", read_sampling, yaml_list};
inline constexpr Codec<DType> float_dtype{"one of fp32, bf16, fp16", read_float_dtype, write_dtype};
}  // namespace as

/// The codec of an enumeration by its array of names. Case counts nothing.
std::optional<std::size_t> read_choice(const Node& node, const std::string_view* names, std::size_t count);

template <class E, const auto& Names>
constexpr Codec<E> choice(std::string_view expected) {
  return {expected,
          [](const Node& node) -> std::optional<E> {
            const auto index = read_choice(node, Names.data(), Names.size());
            return index ? std::optional(static_cast<E>(*index)) : std::nullopt;
          },
          [](const E& value) { return yaml_text(Names.at(static_cast<std::size_t>(value))); }, Names.data(),
          Names.size()};
}

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
inline constexpr auto adapter = choice<Adapter, adapter_names>("one of none, lora, ia3, vera, oft, loha, lokr");
inline constexpr auto adapter_init = choice<AdapterInit, adapter_init_names>("one of plain, pissa_niter, olora");
inline constexpr auto quantization = choice<Quantization, quantization_names>("one of none, nf4, fp4, int8");
inline constexpr auto quantized_linear =
    choice<QuantizedLinear, quantized_linear_names>("one of bitsandbytes, torch_linear, torchao, lightning");
inline constexpr auto attention =
    choice<Attention, attention_names>("one of eager, sdpa, flash_attention_2, flash_or_sdpa");
inline constexpr auto dequantized = choice<Dequantized, dequantized_names>("one of none, on_host, on_device");
inline constexpr auto offload =
    choice<Offload, offload_names>("one of none, streamed, streamed_clones, synchronous, buffered");
inline constexpr auto unsloth_layers = choice<UnslothLayers, unsloth_names>("one of none, xformers");
inline constexpr auto experts =
    choice<ExpertsImplementation, experts_names>("one of eager, batched_mm, grouped_mm, scattermoe");
inline constexpr auto routing = choice<Routing, routing_names>("one of any, balanced");
inline constexpr auto token_metrics = choice<TokenMetrics, token_metrics_names>(
    "one of none, accuracy, row_entropy, entropy, copied_entropy, shifted_entropy");
inline constexpr auto logit_shift =
    choice<LogitShift, logit_shift_names>("one of labels, logits, replaced_logits, raised_logits");
inline constexpr auto pair_scores = choice<PairScores, pair_scores_names>("one of by_row, at_once, cut, held");
inline constexpr auto cache_kind = choice<CacheKind, cache_kind_names>("one of copies, references, returned");
inline constexpr auto sdpa_keys = choice<SdpaKeys, sdpa_keys_names>("one of grouped, repeated, copied");
inline constexpr auto loss = choice<Loss, loss_names>(
    "one of full_logits, chunked_logprob, liger_fused_linear, liger_0_8_0_fused_linear, "
    "cut_cross_entropy, dynamic_fine_tuning, entropy_aware, masked_entropy_aware, chunked_output, "
    "linear_cross_entropy, chunked_head, chunked_rows, unsloth_fused, summed_logits, weighted_logprob, "
    "chunked_nll, raised_chunked_nll, multiple_negatives, cached_multiple_negatives, cosine_similarity, cosent, "
    "triplet, contrastive, "
    "online_contrastive");
inline constexpr auto head = choice<HeadKind, head_names>(
    "one of language_model, sequence_classifier, token_classifier, image_classifier, "
    "question_answering, multiple_choice");
inline constexpr auto sharding =
    choice<Sharding, sharding_names>("one of none, ddp, fsdp2, fsdp1, zero1, zero2, zero3");
inline constexpr auto context_rotation = choice<ContextRotation, context_rotation_names>("one of allgather, alltoall");
inline constexpr auto pipeline_schedule = choice<PipelineSchedule, pipeline_schedule_names>(
    "one of gpipe, 1f1b, looped_bfs, interleaved_1f1b, interleaved_zero_bubble, zbv_zero_bubble");
inline constexpr auto checkpoint_place = choice<CheckpointPlace, checkpoint_place_names>("one of last, first");
inline constexpr auto quant_storage = choice<QuantStorage, quant_storage_names>("one of uint8, bf16, fp16, fp32");
inline constexpr auto shard_units =
    choice<ShardUnits, shard_units_names>("one of blocks, accelerate, adapters, torchtitan, llamafactory");
inline constexpr auto checkpoint_keeps = choice<CheckpointKeeps, checkpoint_keeps_names>("one of inputs, products");
inline constexpr auto backward_prefetch = choice<BackwardPrefetch, backward_prefetch_names>("one of none, pre, post");
inline constexpr auto reshard = choice<Reshard, reshard_names>("one of auto, all, never, smaller");
inline constexpr auto mixed_dtype = choice<MixedDType, mixed_dtype_names>("one of as_held, fp32, bf16, fp16");
inline constexpr auto generation = choice<Generation, generation_names>("one of elsewhere, transformers, vllm");
inline constexpr auto recipe = choice<RecipeKind, recipe_names>(
    "one of supervised, dpo, reference_free, reward, kto, grpo, paired_logits, unpaired_logits, distillation, "
    "reward_values, raised_pairs, sentence_embedding");
inline constexpr auto pooling = choice<Pooling, pooling_names>("one of mean, cls, max, last_token");
inline constexpr auto divergence = choice<Divergence, divergence_names>("one of forward, reverse, mixed");
inline constexpr auto reference = choice<Reference, reference_names>("one of none, adapter_off, model, precomputed");
inline constexpr auto weights_dtype = choice<WeightsDType, weights_dtype_names>("one of checkpoint, fp32, bf16, fp16");
inline constexpr auto weights_on = choice<WeightsOn, weights_on_names>("one of device, host, host_of_several, unknown");
inline constexpr auto worker_start = choice<WorkerStart, worker_start_names>("one of fork, spawn, forkserver");
inline constexpr auto rows_as = choice<RowsAs, rows_as_names>("one of list, numpy, arrow, mapped, stream");
inline constexpr auto row_values = choice<RowValues, row_values_names>("one of int64, int32, int16, bytes");
inline constexpr auto parameter_update =
    choice<ParameterUpdate, parameter_update_names>("one of unknown, summed, folded");
inline constexpr auto adapter_dtype = choice<AdapterDType, adapter_dtype_names>("one of fp32, bf16, as_base");
}  // namespace as

}  // namespace oomplan::planning
