#include "keys.hpp"

#include <algorithm>

#include "../../optimizers.hpp"
#include "../../python_values.hpp"

namespace oomplan::ingestion::hf {
namespace {

// ---- Values --------------------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 4> torch_dtypes{"auto", "float32", "bfloat16", "float16"};
constexpr std::array<std::string_view, 3> quant_types{"", "nf4", "fp4"};
constexpr std::array<std::string_view, 3> strategies{"bfd", "bfd_split", "wrapped"};
constexpr auto torch_dtype = choice<WeightsDType, torch_dtypes>("one of auto, float32, bfloat16, float16");
constexpr auto quant_type = choice<Quantization, quant_types>("nf4 or fp4");

template <const auto& Names>
std::optional<std::string> read_one_of(const Node& node) {
  const auto index = read_choice(node, Names.data(), Names.size());
  return index ? std::optional(std::string(Names.at(*index))) : std::nullopt;
}

// from_pretrained(dtype=None) is "auto" (modeling_utils.py), so null says something here.
constexpr Codec<WeightsDType> load_dtype{
    torch_dtype.expected,
    [](const Node& node) {
      return node.kind == Node::Kind::null ? std::optional(WeightsDType::checkpoint) : torch_dtype.read(node);
    },
    torch_dtype.write, torch_dtypes.data(), torch_dtypes.size()};

// Environment variables, as TRL's scripts set them. torch reads the newer name first (c10/core/AllocatorConfig.cpp).
std::optional<std::string> read_alloc_conf(const Node& node) {
  if (!node.is_mapping()) return std::nullopt;
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    const Node* value = node.find(name);
    if (value != nullptr) return read_text_or_nothing(*value);
  }
  return std::string();
}

constexpr Codec<std::string> environment{
    "a mapping of environment variables to texts", read_alloc_conf,
    [](const std::string& conf) { return "{PYTORCH_ALLOC_CONF: " + yaml_text(conf) + "}"; }};

// No limit is 0: rows are then as long as the data.
constexpr Codec<std::int64_t> length_limit{
    "a positive integer",
    [](const Node& node) {
      return node.kind == Node::Kind::null ? std::optional(std::int64_t{0}) : read_positive(node);
    },
    [](const std::int64_t& value) { return value == 0 ? std::string("null") : write_integer(value); }};

// "auto" pads on no GPU (SFTTrainer: only on Neuron).
constexpr Codec<std::int64_t> multiple{
    "a positive integer or auto",
    [](const Node& node) { return node.text == "auto" ? std::optional(std::int64_t{1}) : read_positive(node); },
    write_integer};

constexpr Codec<std::string> strategy{"one of bfd, bfd_split, wrapped", read_one_of<strategies>, write_text,
                                      strategies.data(), strategies.size()};

// ---- Keys ----------------------------------------------------------------------------------------------------------

template <auto Member, const auto& Format>
constexpr Row<Hf> key(std::string_view name) {
  return row<Hf, Member, Format>(name);
}
template <auto Member, const auto& Format>
constexpr Row<Hf> old_key(std::string_view name) {
  return alias<Hf, Member, Format>(name);
}

using K = LoaderKeys;

template <auto Member, const auto& Format>
constexpr Row<Hf> loader(std::string_view name) {
  return row<Hf, Member, Format, &Hf::loader>(name);
}

template <auto Member, const auto& Format>
constexpr Row<Hf> other_loader_key(std::string_view name) {
  return alias<Hf, Member, Format, &Hf::loader>(name);
}

constexpr std::array rows{
    key<&Hf::trainer, as::trainer>("trainer"),
    key<&Hf::model_name_or_path, as::text>("model_name_or_path"),
    key<&Hf::per_device_train_batch_size, as::positive>("per_device_train_batch_size"),
    old_key<&Hf::per_device_train_batch_size, as::positive>("per_gpu_train_batch_size"),
    key<&Hf::gradient_accumulation_steps, as::positive>("gradient_accumulation_steps"),
    old_key<&Hf::accumulation, as::positive>("accelerator_config.gradient_accumulation_kwargs.num_steps"),
    key<&Hf::bf16, as::argparse_boolean>("bf16"),
    key<&Hf::fp16, as::argparse_boolean>("fp16"),
    key<&Hf::activation_checkpointing, as::argparse_boolean>("activation_checkpointing"),
    key<&Hf::use_reentrant, as::plain_boolean>("activation_checkpointing_kwargs.use_reentrant"),
    old_key<&Hf::gradient_checkpointing, as::argparse_boolean>("gradient_checkpointing"),
    old_key<&Hf::old_use_reentrant, as::plain_boolean>("gradient_checkpointing_kwargs.use_reentrant"),
    key<&Hf::optim, as::optimizer>("optim"),
    key<&Hf::optim_args, as::text>("optim_args"),
    key<&Hf::max_grad_norm, as::number>("max_grad_norm"),
    key<&Hf::use_cache, as::argparse_boolean>("use_cache"),
    key<&Hf::max_length, length_limit>("max_length"),
    key<&Hf::max_seq_length, as::positive>("max_seq_length"),
    key<&Hf::model_max_length, as::positive>("model_max_length"),
    key<&Hf::block_size, as::positive>("block_size"),
    key<&Hf::pad_to_max_length, as::argparse_boolean>("pad_to_max_length"),
    key<&Hf::pad_to_multiple_of, multiple>("pad_to_multiple_of"),
    key<&Hf::packing, as::argparse_boolean>("packing"),
    key<&Hf::packing_strategy, strategy>("packing_strategy"),
    key<&Hf::padding_free, as::argparse_boolean>("padding_free"),
    key<&Hf::dtype, load_dtype>("dtype"),
    old_key<&Hf::dtype, load_dtype>("torch_dtype"),
    key<&Hf::attn_implementation, as::attention>("attn_implementation"),
    key<&Hf::model_init_dtype, load_dtype>("model_init_kwargs.dtype"),
    old_key<&Hf::model_init_dtype, load_dtype>("model_init_kwargs.torch_dtype"),
    key<&Hf::model_init_attention, as::attention>("model_init_kwargs.attn_implementation"),
    key<&Hf::use_peft, as::argparse_boolean>("use_peft"),
    key<&Hf::lora_r, as::positive>("lora_r"),
    key<&Hf::lora_dropout, as::fraction>("lora_dropout"),
    key<&Hf::lora_target_modules, as::names>("lora_target_modules"),
    key<&Hf::load_in_4bit, as::argparse_boolean>("load_in_4bit"),
    key<&Hf::bnb_4bit_quant_type, quant_type>("bnb_4bit_quant_type"),
    key<&Hf::use_bnb_nested_quant, as::argparse_boolean>("use_bnb_nested_quant"),
    key<&Hf::alloc_conf, environment>("env"),
    loader<&K::workers, as::count>("dataloader_num_workers"),
    loader<&K::prefetch, as::positive>("dataloader_prefetch_factor"),
    loader<&K::start, as::worker_start>("dataloader_multiprocessing_context"),
    loader<&K::pin_memory, as::argparse_boolean>("dataloader_pin_memory"),
    loader<&K::persistent, as::argparse_boolean>("dataloader_persistent_workers"),
    loader<&K::streaming, as::argparse_boolean>("streaming"),
    other_loader_key<&K::streaming, as::argparse_boolean>("dataset_streaming"),
    loader<&K::map_processes, as::count>("dataset_num_proc"),
    other_loader_key<&K::map_processes, as::count>("preprocessing_num_workers"),
};

}  // namespace

Table<Hf> table() { return {rows, features(), &hf_keys()}; }

}  // namespace oomplan::ingestion::hf
