#include "keys.hpp"

#include <algorithm>

#include "../../fields.hpp"
#include "../../optimizers.hpp"

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
    key<&Hf::bf16, as::boolean>("bf16"),
    key<&Hf::fp16, as::boolean>("fp16"),
    key<&Hf::activation_checkpointing, as::boolean>("activation_checkpointing"),
    key<&Hf::use_reentrant, as::boolean>("activation_checkpointing_kwargs.use_reentrant"),
    old_key<&Hf::gradient_checkpointing, as::boolean>("gradient_checkpointing"),
    old_key<&Hf::old_use_reentrant, as::boolean>("gradient_checkpointing_kwargs.use_reentrant"),
    key<&Hf::optim, as::optimizer>("optim"),
    key<&Hf::optim_args, as::text>("optim_args"),
    key<&Hf::max_grad_norm, as::number>("max_grad_norm"),
    key<&Hf::use_cache, as::boolean>("use_cache"),
    key<&Hf::max_length, length_limit>("max_length"),
    key<&Hf::max_seq_length, as::positive>("max_seq_length"),
    key<&Hf::model_max_length, as::positive>("model_max_length"),
    key<&Hf::block_size, as::positive>("block_size"),
    key<&Hf::pad_to_max_length, as::boolean>("pad_to_max_length"),
    key<&Hf::pad_to_multiple_of, multiple>("pad_to_multiple_of"),
    key<&Hf::packing, as::boolean>("packing"),
    key<&Hf::packing_strategy, strategy>("packing_strategy"),
    key<&Hf::padding_free, as::boolean>("padding_free"),
    key<&Hf::dtype, load_dtype>("dtype"),
    old_key<&Hf::dtype, load_dtype>("torch_dtype"),
    key<&Hf::attn_implementation, as::attention>("attn_implementation"),
    key<&Hf::model_init_dtype, load_dtype>("model_init_kwargs.dtype"),
    old_key<&Hf::model_init_dtype, load_dtype>("model_init_kwargs.torch_dtype"),
    key<&Hf::model_init_attention, as::attention>("model_init_kwargs.attn_implementation"),
    key<&Hf::use_peft, as::boolean>("use_peft"),
    key<&Hf::lora_r, as::positive>("lora_r"),
    key<&Hf::lora_dropout, as::fraction>("lora_dropout"),
    key<&Hf::lora_target_modules, as::names>("lora_target_modules"),
    key<&Hf::load_in_4bit, as::boolean>("load_in_4bit"),
    key<&Hf::bnb_4bit_quant_type, quant_type>("bnb_4bit_quant_type"),
    key<&Hf::use_bnb_nested_quant, as::boolean>("use_bnb_nested_quant"),
    key<&Hf::alloc_conf, environment>("env"),
    loader<&K::workers, as::count>("dataloader_num_workers"),
    loader<&K::prefetch, as::positive>("dataloader_prefetch_factor"),
    loader<&K::start, as::worker_start>("dataloader_multiprocessing_context"),
    loader<&K::pin_memory, as::boolean>("dataloader_pin_memory"),
    loader<&K::persistent, as::boolean>("dataloader_persistent_workers"),
    loader<&K::streaming, as::boolean>("streaming"),
    other_loader_key<&K::streaming, as::boolean>("dataset_streaming"),
    loader<&K::map_processes, as::count>("dataset_num_proc"),
    other_loader_key<&K::map_processes, as::count>("preprocessing_num_workers"),
};

constexpr std::array<std::string_view, 9> shared_no_effect{"dataset_name",
                                                           "model_revision",
                                                           "trust_remote_code",
                                                           "config",
                                                           "model_init_kwargs.device_map",
                                                           "model_init_kwargs.low_cpu_mem_usage",
                                                           "model_init_kwargs.revision",
                                                           "model_init_kwargs.trust_remote_code",
                                                           "model_init_kwargs.use_cache"};

// TrainingArguments of transformers 5.23, then what earlier versions had besides.
constexpr std::array<std::string_view, 85> arguments_no_effect{"accelerator_config",
                                                               "adam_beta1",
                                                               "adam_beta2",
                                                               "adam_epsilon",
                                                               "average_tokens_across_devices",
                                                               "batch_eval_metrics",
                                                               "bf16_full_eval",
                                                               "data_seed",
                                                               "dataloader_drop_last",
                                                               "dataloader_in_order",
                                                               "ddp_backend",
                                                               "ddp_broadcast_buffers",
                                                               "ddp_bucket_cap_mb",
                                                               "ddp_find_unused_parameters",
                                                               "ddp_static_graph",
                                                               "ddp_timeout",
                                                               "debug",
                                                               "disable_tqdm",
                                                               "do_eval",
                                                               "do_predict",
                                                               "do_train",
                                                               "enable_jit_checkpoint",
                                                               "eval_accumulation_steps",
                                                               "eval_delay",
                                                               "eval_do_concat_batches",
                                                               "eval_on_start",
                                                               "eval_steps",
                                                               "eval_strategy",
                                                               "eval_use_gather_object",
                                                               "fp16_full_eval",
                                                               "fsdp_config",
                                                               "full_determinism",
                                                               "greater_is_better",
                                                               "hub_always_push",
                                                               "hub_model_id",
                                                               "hub_private_repo",
                                                               "hub_revision",
                                                               "hub_strategy",
                                                               "hub_token",
                                                               "ignore_data_skip",
                                                               "include_for_metrics",
                                                               "include_num_input_tokens_seen",
                                                               "label_names",
                                                               "learning_rate",
                                                               "length_column_name",
                                                               "liger_kernel_config",
                                                               "load_best_model_at_end",
                                                               "local_rank",
                                                               "log_level",
                                                               "log_level_replica",
                                                               "log_on_each_node",
                                                               "logging_first_step",
                                                               "logging_nan_inf_filter",
                                                               "logging_steps",
                                                               "logging_strategy",
                                                               "lr_scheduler_kwargs",
                                                               "lr_scheduler_type",
                                                               "max_steps",
                                                               "metric_for_best_model",
                                                               "num_train_epochs",
                                                               "output_dir",
                                                               "per_device_eval_batch_size",
                                                               "prediction_loss_only",
                                                               "project",
                                                               "push_to_hub",
                                                               "remove_unused_columns",
                                                               "report_to",
                                                               "restore_callback_states_from_checkpoint",
                                                               "resume_from_checkpoint",
                                                               "run_name",
                                                               "save_on_each_node",
                                                               "save_only_model",
                                                               "save_steps",
                                                               "save_strategy",
                                                               "save_total_limit",
                                                               "seed",
                                                               "skip_memory_metrics",
                                                               "tf32",
                                                               "torch_empty_cache_steps",
                                                               "trackio_bucket_id",
                                                               "trackio_space_id",
                                                               "trackio_static_space_id",
                                                               "train_sampling_strategy",
                                                               "warmup_steps",
                                                               "weight_decay"};

constexpr std::array<std::string_view, 29> old_arguments{"dispatch_batches",
                                                         "evaluation_strategy",
                                                         "fp16_backend",
                                                         "fp16_opt_level",
                                                         "fsdp_min_num_params",
                                                         "fsdp_transformer_layer_cls_to_wrap",
                                                         "group_by_length",
                                                         "half_precision_backend",
                                                         "include_inputs_for_metrics",
                                                         "include_tokens_per_second",
                                                         "jit_mode_eval",
                                                         "logging_dir",
                                                         "mp_parameters",
                                                         "overwrite_output_dir",
                                                         "past_index",
                                                         "per_gpu_eval_batch_size",
                                                         "push_to_hub_model_id",
                                                         "push_to_hub_organization",
                                                         "push_to_hub_token",
                                                         "ray_scope",
                                                         "save_safetensors",
                                                         "split_batches",
                                                         "torchdynamo",
                                                         "tpu_metrics_debug",
                                                         "tpu_num_cores",
                                                         "use_ipex",
                                                         "use_mps_device",
                                                         "warmup_ratio",
                                                         "xpu_backend"};

template <class T, class... Arrays>
std::vector<T> joined(const Arrays&... arrays) {
  std::vector<T> out;
  (out.insert(out.end(), arrays.begin(), arrays.end()), ...);
  return out;
}

}  // namespace

Table<Hf> table() {
  static const auto no_effect =
      joined<std::string_view>(trl_only, shared_no_effect, arguments_no_effect, old_arguments, scripts_only);
  return {rows, features(), no_effect};
}

}  // namespace oomplan::ingestion::hf
