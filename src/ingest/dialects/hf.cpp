// Hugging Face: transformers' TrainingArguments, TRL's SFTConfig, ModelConfig and ScriptArguments, and the keys of
// transformers' example scripts, as YAML or JSON.
#include <algorithm>
#include <array>

#include "../dialect.hpp"
#include "../fields.hpp"
#include "../optimizers.hpp"

namespace oomplan::ingestion {
namespace {

constexpr std::string_view training_arguments = "transformers 5.23.0: TrainingArguments";
constexpr std::string_view from_pretrained = "transformers 5.23.0: PreTrainedModel.from_pretrained";
constexpr std::string_view base_config = "trl 1.16.0: _BaseConfig";
constexpr std::string_view sft_config = "trl 1.16.0: SFTConfig";
constexpr std::string_view model_config = "trl 1.16.0: ModelConfig";
constexpr std::string_view sft_trainer = "trl 1.16.0: SFTTrainer";

/// The config as the frameworks' own classes hold it.
struct Hf {
  Arg<std::string> trainer{};
  Arg<std::string> model_name_or_path{};
  Arg<std::int64_t> per_device_train_batch_size{};
  Arg<std::int64_t> gradient_accumulation_steps{};
  Arg<bool> bf16{};
  Arg<bool> fp16{};
  Arg<bool> activation_checkpointing{};
  Arg<bool> gradient_checkpointing{};
  Arg<bool> use_reentrant{};
  Arg<bool> old_use_reentrant{};
  Arg<std::string> optim{};
  Arg<std::string> optim_args{};
  Arg<double> max_grad_norm{};
  Arg<bool> use_cache{};
  Arg<std::int64_t> max_length{};
  Arg<std::int64_t> max_seq_length{};
  Arg<std::int64_t> block_size{};
  Arg<bool> pad_to_max_length{};
  Arg<std::int64_t> pad_to_multiple_of{};
  Arg<bool> packing{};
  Arg<std::string> packing_strategy{};
  Arg<bool> padding_free{};
  Arg<WeightsDType> dtype{};
  Arg<WeightsDType> model_init_dtype{};
  Arg<Attention> attn_implementation{};
  Arg<Attention> model_init_attention{};
  Arg<bool> use_peft{};
  Arg<std::int64_t> lora_r{};
  Arg<double> lora_dropout{};
  Arg<std::vector<std::string>> lora_target_modules{};
  Arg<bool> load_in_4bit{};
  Arg<Quantization> bnb_4bit_quant_type{};
  Arg<bool> use_bnb_nested_quant{};
};

// ---- Values --------------------------------------------------------------------------------------------------------

constexpr std::array<std::string_view, 4> torch_dtypes{"auto", "float32", "bfloat16", "float16"};
constexpr std::array<std::string_view, 3> quant_types{"", "nf4", "fp4"};
constexpr std::array<std::string_view, 3> strategies{"bfd", "bfd_split", "wrapped"};
constexpr std::array<std::string_view, 2> trainers{"sft", "trainer"};
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
constexpr Codec<std::string> trainer_hint{"sft or trainer", read_one_of<trainers>, write_text, trainers.data(),
                                          trainers.size()};

// ---- Keys ----------------------------------------------------------------------------------------------------------

template <auto Member, const auto& Format>
constexpr Row<Hf> key(std::string_view name) {
  return row<Hf, Member, Format>(name);
}
template <auto Member, const auto& Format>
constexpr Row<Hf> old_key(std::string_view name) {
  return alias<Hf, Member, Format>(name);
}

constexpr std::array rows{
    key<&Hf::trainer, trainer_hint>("trainer"),
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
};

bool is_other_attention(const Node& node) {
  constexpr std::array<std::string_view, 3> others{"flash_attention_3", "flash_attention_4", "flex_attention"};
  return std::ranges::count(others, node.text) > 0 || node.text.find('/') != std::string::npos;
}

bool is_other_loss(const Node& node) {
  constexpr std::array<std::string_view, 3> same{"nll", "chunked_nll", "dft"};
  return is_set(node) && std::ranges::count(same, node.text) == 0;
}

bool is_other_task(const Node& node) { return is_set(node) && node.text != "CAUSAL_LM"; }

constexpr std::array features{
    Feature{"deepspeed", "DeepSpeed"},
    Feature{"fsdp", "FSDP"},
    Feature{"torch_compile", "torch.compile"},
    Feature{"torch_compile_backend", "torch.compile"},
    Feature{"torch_compile_mode", "torch.compile"},
    Feature{"use_liger_kernel", "Liger kernels"},
    Feature{"neftune_noise_alpha", "NEFTune"},
    Feature{"parallelism_config", "tensor, context or sequence parallelism"},
    Feature{"use_cpu", "training on the CPU"},
    Feature{"no_cuda", "training on the CPU"},
    Feature{"sharded_ddp", "fairscale's sharded data parallel"},
    Feature{"auto_find_batch_size", "auto_find_batch_size"},
    Feature{"label_smoothing_factor", "label smoothing"},
    Feature{"optim_target_modules", "optimizer of low rank"},
    Feature{"activation_offloading", "activation offloading"},
    Feature{"activation_checkpointing_kwargs.selective", "selective activation checkpointing"},
    Feature{"activation_checkpointing_kwargs.every_n_layers", "activation checkpointing of some layers"},
    Feature{"activation_checkpointing_kwargs.offload", "activation offloading"},
    Feature{"gradient_checkpointing_kwargs.selective", "selective activation checkpointing"},
    Feature{"gradient_checkpointing_kwargs.every_n_layers", "activation checkpointing of some layers"},
    Feature{"gradient_checkpointing_kwargs.offload", "activation offloading"},
    Feature{"loss_type", "preference or RL training", is_other_loss},
    Feature{"attn_implementation", "attention implementation", is_other_attention},
    Feature{"model_init_kwargs.attn_implementation", "attention implementation", is_other_attention},
    Feature{"model_init_kwargs.use_kernels", "Hub kernels"},
    Feature{"model_init_kwargs.quantization_config", "quantization by model_init_kwargs"},
    Feature{"load_in_8bit", "LLM.int8 base weights"},
    Feature{"use_dora", "DoRA"},
    Feature{"lora_modules_to_save", "LoRA modules_to_save"},
    Feature{"lora_target_parameters", "LoRA on parameters"},
    Feature{"lora_task_type", "LoRA task type", is_other_task},
    Feature{"config_overrides", "a model of overridden config"},
};

// What TRL's DPO, GRPO, KTO, RLOO, reward and distillation configs add to SFTConfig.
constexpr std::array<std::string_view, 88> trl_reinforcement{"beta",
                                                             "cache_implementation",
                                                             "cast_lm_head_to_fp32",
                                                             "center_rewards_coefficient",
                                                             "chat_template_kwargs",
                                                             "delta",
                                                             "desirable_weight",
                                                             "disable_dropout",
                                                             "discopop_tau",
                                                             "ds3_gather_for_generation",
                                                             "entropy_coef",
                                                             "entropy_coef_delta",
                                                             "entropy_coef_max",
                                                             "entropy_coef_min",
                                                             "entropy_target",
                                                             "epsilon",
                                                             "epsilon_high",
                                                             "f_alpha_divergence_coef",
                                                             "f_divergence_type",
                                                             "generation_batch_size",
                                                             "generation_kwargs",
                                                             "importance_sampling_level",
                                                             "label_smoothing",
                                                             "ld_alpha",
                                                             "log_completions",
                                                             "log_completions_hub_repo",
                                                             "log_multimodal",
                                                             "log_unique_prompts",
                                                             "loss_weights",
                                                             "mask_truncated_completions",
                                                             "max_completion_length",
                                                             "max_tool_calling_iterations",
                                                             "min_p",
                                                             "multi_objective_aggregation",
                                                             "normalize_advantages",
                                                             "num_completions_to_print",
                                                             "num_generations",
                                                             "num_generations_eval",
                                                             "num_iterations",
                                                             "off_policy_mask_threshold",
                                                             "precompute_ref_batch_size",
                                                             "precompute_ref_log_probs",
                                                             "ref_model_mixup_alpha",
                                                             "ref_model_sync_steps",
                                                             "repetition_penalty",
                                                             "reward_clip_range",
                                                             "reward_weights",
                                                             "sapo_temperature_neg",
                                                             "sapo_temperature_pos",
                                                             "scale_rewards",
                                                             "steps_per_generation",
                                                             "sync_ref_model",
                                                             "teacher_model_init_kwargs",
                                                             "teacher_model_name_or_path",
                                                             "teacher_model_revision",
                                                             "temperature",
                                                             "top_entropy_quantile",
                                                             "top_k",
                                                             "top_p",
                                                             "transformers_continuous_batching_config",
                                                             "undesirable_weight",
                                                             "use_adaptive_entropy",
                                                             "use_bias_correction_kl",
                                                             "use_transformers_continuous_batching",
                                                             "use_transformers_paged",
                                                             "use_vllm",
                                                             "use_weighting",
                                                             "vespo_k_neg",
                                                             "vespo_k_pos",
                                                             "vespo_lambda_neg",
                                                             "vespo_lambda_pos",
                                                             "vllm_enable_sleep_mode",
                                                             "vllm_gpu_memory_utilization",
                                                             "vllm_group_port",
                                                             "vllm_importance_sampling_cap",
                                                             "vllm_importance_sampling_clip_max",
                                                             "vllm_importance_sampling_clip_min",
                                                             "vllm_importance_sampling_correction",
                                                             "vllm_importance_sampling_mode",
                                                             "vllm_max_model_length",
                                                             "vllm_mode",
                                                             "vllm_model_impl",
                                                             "vllm_server_base_url",
                                                             "vllm_server_host",
                                                             "vllm_server_port",
                                                             "vllm_server_timeout",
                                                             "vllm_structured_outputs_regex",
                                                             "vllm_tensor_parallel_size"};

// What only TRL knows, and what transformers' scripts know as well.
constexpr std::array<std::string_view, 22> trl_only{"assistant_only_loss", "bnb_4bit_quant_storage",
                                                    "chat_template_path",  "completion_only_loss",
                                                    "dataset_config",      "dataset_kwargs",
                                                    "dataset_num_proc",    "dataset_streaming",
                                                    "dataset_test_split",  "dataset_text_field",
                                                    "dataset_train_split", "datasets",
                                                    "eos_token",           "eval_packing",
                                                    "ignore_bias_buffers", "lora_alpha",
                                                    "pad_token",           "router_aux_loss_coef",
                                                    "shuffle_dataset",     "test_split_size",
                                                    "truncation_mode",     "use_rslora"};

constexpr std::array<std::string_view, 21> trl_only_modelled{"max_length",
                                                             "packing",
                                                             "packing_strategy",
                                                             "padding_free",
                                                             "pad_to_multiple_of",
                                                             "model_init_kwargs",
                                                             "attn_implementation",
                                                             "use_peft",
                                                             "lora_r",
                                                             "lora_dropout",
                                                             "lora_target_modules",
                                                             "load_in_4bit",
                                                             "bnb_4bit_quant_type",
                                                             "use_bnb_nested_quant",
                                                             "activation_offloading",
                                                             "loss_type",
                                                             "load_in_8bit",
                                                             "use_dora",
                                                             "lora_modules_to_save",
                                                             "lora_target_parameters",
                                                             "lora_task_type"};

constexpr std::array<std::string_view, 11> shared_no_effect{"dataset_name",
                                                            "model_revision",
                                                            "streaming",
                                                            "trust_remote_code",
                                                            "config",
                                                            "env",
                                                            "model_init_kwargs.device_map",
                                                            "model_init_kwargs.low_cpu_mem_usage",
                                                            "model_init_kwargs.revision",
                                                            "model_init_kwargs.trust_remote_code",
                                                            "model_init_kwargs.use_cache"};

// TrainingArguments of transformers 5.23, then what earlier versions had besides.
constexpr std::array<std::string_view, 90> arguments_no_effect{"accelerator_config",
                                                               "adam_beta1",
                                                               "adam_beta2",
                                                               "adam_epsilon",
                                                               "average_tokens_across_devices",
                                                               "batch_eval_metrics",
                                                               "bf16_full_eval",
                                                               "data_seed",
                                                               "dataloader_drop_last",
                                                               "dataloader_in_order",
                                                               "dataloader_multiprocessing_context",
                                                               "dataloader_num_workers",
                                                               "dataloader_persistent_workers",
                                                               "dataloader_pin_memory",
                                                               "dataloader_prefetch_factor",
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

// transformers' examples: run_clm, run_mlm and their like.
constexpr std::array<std::string_view, 25> scripts_only{"cache_dir",
                                                        "config_name",
                                                        "dataset_config_name",
                                                        "ignore_mismatched_sizes",
                                                        "keep_linebreaks",
                                                        "line_by_line",
                                                        "low_cpu_mem_usage",
                                                        "max_eval_samples",
                                                        "max_predict_samples",
                                                        "max_train_samples",
                                                        "mlm_probability",
                                                        "model_type",
                                                        "overwrite_cache",
                                                        "preprocessing_num_workers",
                                                        "task_name",
                                                        "test_file",
                                                        "token",
                                                        "tokenizer_name",
                                                        "train_file",
                                                        "use_auth_token",
                                                        "use_fast_tokenizer",
                                                        "validation_file",
                                                        "validation_split_percentage",
                                                        "block_size",
                                                        "pad_to_max_length"};

template <class T, class... Arrays>
std::vector<T> joined(const Arrays&... arrays) {
  std::vector<T> out;
  (out.insert(out.end(), arrays.begin(), arrays.end()), ...);
  return out;
}

Table<Hf> table() {
  static const auto all_features = [] {
    std::vector<Feature> out(features.begin(), features.end());
    for (const auto name : trl_reinforcement) out.push_back({name, "preference, RL or distillation training"});
    return out;
  }();
  static const auto no_effect =
      joined<std::string_view>(trl_only, shared_no_effect, arguments_no_effect, old_arguments, scripts_only);
  return {rows, all_features, no_effect};
}

// ---- Which trainer -------------------------------------------------------------------------------------------------

template <class Keys>
bool has_any(const Inputs& inputs, const Keys& keys) {
  return std::ranges::any_of(inputs, [&](const Input& input) {
    return std::ranges::count(keys, std::string_view(input.key).substr(0, input.key.find('.'))) > 0;
  });
}

/// Whether TRL's SFT script reads this file. What the file says of itself comes first, then keys that only one of the
/// two knows; a file with neither is TRL's where it is YAML, which TRL's scripts take and transformers' do not.
bool is_sft(const Hf& hf, const Inputs& inputs, const Document& document) {
  if (hf.trainer.value) return *hf.trainer.value == "sft";
  if (has_any(inputs, trl_only) || has_any(inputs, trl_only_modelled)) return true;
  return document.syntax != Syntax::json && !has_any(inputs, scripts_only);
}

// ---- The plan ------------------------------------------------------------------------------------------------------

template <class T>
bool is(const Arg<T>& arg, const T& value) {
  return arg.value == value;
}

void plan_precision(const Hf& hf, bool sft, TrainingPlan& plan) {
  const bool fp16 = is(hf.fp16, true);
  const bool bf16 = hf.bf16.value.value_or(sft && !fp16);
  plan.autocast.value = fp16 ? Autocast::fp16 : bf16 ? Autocast::bf16 : Autocast::none;
  plan.autocast.origin = fp16            ? hf.fp16.origin
                         : hf.bf16.value ? hf.bf16.origin
                                         : default_of(sft ? base_config : training_arguments);
  const auto& dtype = hf.model_init_dtype.value ? hf.model_init_dtype : hf.dtype;
  plan.weights_dtype = sft ? setting(dtype, WeightsDType::fp32, model_config)
                           : setting(dtype, WeightsDType::checkpoint, from_pretrained);
  plan.outputs_to_fp32 = {plan.autocast.value != Autocast::none, default_of("accelerate 1.15.0: prepare_model")};
}

// The rows of a batch, and how long they get. Packed rows of one batch are one row, with a mask that keeps them apart
// where the attention is not flash attention.
void plan_batch(const Hf& hf, bool sft, TrainingPlan& plan) {
  plan.micro_batch_size = setting(hf.per_device_train_batch_size, std::int64_t{8}, training_arguments);
  plan.gradient_accumulation_steps = setting(hf.gradient_accumulation_steps, std::int64_t{1}, training_arguments);
  const auto& scripts = hf.block_size.value ? hf.block_size : hf.max_seq_length;
  const auto& trl = hf.max_length.value ? hf.max_length : hf.max_seq_length;
  plan.sequence_length = sft ? setting(trl, std::int64_t{1024}, sft_config) : setting(scripts, std::int64_t{0}, "");
  const std::int64_t step = hf.pad_to_multiple_of.value.value_or(1);
  std::int64_t& length = plan.sequence_length.value;
  length = (length + step - 1) / step * step;
}

void plan_padding(const Hf& hf, bool sft, TrainingPlan& plan) {
  const bool split = !is(hf.packing_strategy, std::string("wrapped"));
  const bool joined = sft && (is(hf.padding_free, true) || (is(hf.packing, true) && split));
  const bool fixed = (sft && is(hf.packing, true) && !split) || (!sft && hf.block_size.value);
  if (joined) {
    plan.sequence_length.value *= plan.micro_batch_size.value;
    plan.micro_batch_size.value = 1;
    plan.padding_mask = {plan.attention.value != Attention::flash_attention_2,
                         default_of("trl 1.16.0: DataCollatorForLanguageModeling(padding_free=True)")};
  } else if (fixed) {
    plan.padding_mask = {false, default_of("all rows are cut to the same length")};
  } else {
    const bool padded = plan.micro_batch_size.value > 1 || is(hf.pad_to_max_length, true);
    plan.padding_mask = {padded, assumed(padded ? "rows of a batch differ in length and are padded"
                                                : "a batch of one row needs no padding")};
  }
}

void plan_step(const Hf& hf, bool sft, TrainingPlan& plan, Draft& draft) {
  const auto& checkpointing =
      hf.activation_checkpointing.value ? hf.activation_checkpointing : hf.gradient_checkpointing;
  const auto& reentrant = hf.use_reentrant.value ? hf.use_reentrant : hf.old_use_reentrant;
  plan.gradient_checkpointing = setting(checkpointing, sft, sft ? base_config : training_arguments);
  plan.reentrant_checkpointing = setting(reentrant, false, "transformers 5.23.0: activation_checkpointing_enable");
  const auto optim = setting(hf.optim, std::string("adamw_torch_fused"), training_arguments);
  const OptimizerName& name = *find_optimizer(optim.value);
  plan.optimizer = {std::string(name.plan.empty() ? name.theirs : name.plan), optim.origin};
  if (name.plan.empty()) draft.plan.unmodelled.push_back({"optimizer " + optim.value, "optim", optim.origin.where});
  if (name.plan == "sgd" && hf.optim_args.value.value_or("").find("momentum") != std::string::npos) {
    plan.optimizer = {"sgd_momentum", hf.optim_args.origin};
  }
  const auto norm = setting(hf.max_grad_norm, 1.0, training_arguments);
  plan.clip_gradients = {norm.value > 0, norm.origin};
  plan.set_grads_to_none = {true, default_of("torch 2.13.0: Module.zero_grad")};
}

void plan_forward(const Hf& hf, bool sft, TrainingPlan& plan) {
  const auto& attention = hf.model_init_attention.value ? hf.model_init_attention : hf.attn_implementation;
  plan.attention = setting(attention, Attention::sdpa, from_pretrained);
  plan.loss = sft ? Setting<Loss>{Loss::chunked_logprob, default_of("trl 1.16.0: add_fused_lm_head")}
                  : Setting<Loss>{Loss::full_logits, default_of("transformers 5.23.0: ForCausalLMLoss")};
  plan.outputs_kept = {
      false, default_of(sft ? "trl 1.16.0: SFTTrainer.compute_loss" : "transformers 5.23.0: Trainer.compute_loss")};
  plan.use_cache = sft ? Setting<bool>{false, default_of("trl 1.16.0: SFTTrainer.compute_loss")}
                       : setting(hf.use_cache, false, training_arguments);
}

DType compute_dtype(WeightsDType dtype) {
  return dtype == WeightsDType::bf16 ? DType::bf16 : dtype == WeightsDType::fp16 ? DType::fp16 : DType::fp32;
}

void plan_adapter(const Hf& hf, TrainingPlan& plan) {
  const auto peft = setting(hf.use_peft, false, model_config);
  plan.adapter = {peft.value ? Adapter::lora : Adapter::none, peft.origin};
  plan.lora_rank = setting(hf.lora_r, std::int64_t{16}, model_config);
  plan.lora_dropout = setting(hf.lora_dropout, 0.05, model_config);
  plan.lora_targets = setting(hf.lora_target_modules, {"peft-default"}, "peft 0.21.2: target modules by model_type");
  const auto four = setting(hf.load_in_4bit, false, model_config);
  const auto kind = setting(hf.bnb_4bit_quant_type, Quantization::nf4, model_config);
  plan.quantization = {four.value ? kind.value : Quantization::none, four.origin};
  plan.adapter_dtype =
      four.value ? Setting<AdapterDType>{AdapterDType::bf16, default_of(sft_trainer)}
                 : Setting<AdapterDType>{AdapterDType::fp32,
                                         default_of("peft 0.21.2: get_peft_model(autocast_adapter_dtype=True)")};
  plan.double_quantization = setting(hf.use_bnb_nested_quant, false, model_config);
  const auto dtype = setting(hf.dtype, WeightsDType::fp32, model_config);
  plan.quantization_compute_dtype = {compute_dtype(dtype.value), dtype.origin};
  plan.kbit_upcast = {false, default_of(sft_trainer)};
}

// ---- What is wrong or old ------------------------------------------------------------------------------------------

void check_facts(bool sft, Draft& draft, const Document& document) {
  const TrainingPlan& plan = draft.plan;
  if (plan.model.value.empty()) {
    miss(draft, document, "model", "model_name_or_path is not given",
         "add model_name_or_path: … or --set plan.model=…");
  }
  if (plan.sequence_length.value > 0) return;
  const std::string_view why = sft ? "max_length is null, so rows are as long as the data"
                                   : "transformers' Trainer has no sequence length of its own";
  const std::string_view how = sft ? "give max_length, or --set sequence_length=…"
                                   : "give block_size or max_seq_length, or --set sequence_length=…";
  miss(draft, document, "sequence_length", std::string(why), std::string(how));
}

void check_together(const Hf& hf, Draft& draft, const Document& document) {
  if (is(hf.bf16, true) && is(hf.fp16, true)) {
    conflict(draft, hf.fp16.origin, document, "fp16 and bf16 are both true: TrainingArguments takes one of them");
  }
  if (is(hf.padding_free, true) && !is(hf.packing, true) && !is(hf.max_length, std::int64_t{0})) {
    conflict(draft, hf.padding_free.origin, document,
             "padding_free without packing enforces no max_length: SFTTrainer wants max_length: null beside it");
  }
  if (is(hf.load_in_4bit, true) && is(hf.dtype, WeightsDType::checkpoint)) {
    conflict(draft, hf.dtype.origin, document,
             "dtype: auto cannot be bitsandbytes' compute dtype: with load_in_4bit, name one (bfloat16)");
  }
}

void warn_renamed(const Inputs& inputs, bool sft, TrainingPlan& plan) {
  constexpr std::array<std::array<std::string_view, 2>, 3> renamed{
      {{"torch_dtype", "dtype"},
       {"max_seq_length", "max_length"},
       {"per_gpu_train_batch_size", "per_device_train_batch_size"}}};
  for (const Input& input : inputs) {
    const auto* found = std::ranges::find(renamed, input.key, [](const auto& pair) { return pair[0]; });
    if (found == renamed.end() || (!sft && input.key == "max_seq_length")) continue;
    plan.warnings.push_back(at_key(input, Severity::warning, "ingest/renamed-key",
                                   input.key + " is now called " + std::string((*found)[1]) + "; read as that"));
  }
}

Draft read(const Inputs& inputs, const Document& document) {
  Draft draft;
  Hf hf;
  Findings findings;
  read_rows(table(), inputs, hf, findings);
  take(draft, std::move(findings));
  const bool sft = is_sft(hf, inputs, document);
  TrainingPlan& plan = draft.plan;
  plan.framework = sft ? "trl 1.16.0 on transformers 5.23.0" : "transformers 5.23.0";
  plan.model = setting(hf.model_name_or_path, std::string{}, "");
  plan_precision(hf, sft, plan);
  plan_forward(hf, sft, plan);
  plan_batch(hf, sft, plan);
  plan_padding(hf, sft, plan);
  plan_step(hf, sft, plan, draft);
  plan_adapter(hf, plan);
  warn_renamed(inputs, sft, plan);
  check_facts(sft, draft, document);
  check_together(hf, draft, document);
  return draft;
}

// ---- Back to keys --------------------------------------------------------------------------------------------------

template <class T>
void give(Arg<T>& arg, T value) {
  arg.value = std::move(value);
}

void write_adapter(const TrainingPlan& plan, Hf& hf) {
  give(hf.use_peft, plan.adapter.value == Adapter::lora);
  give(hf.lora_r, plan.lora_rank.value);
  give(hf.lora_dropout, plan.lora_dropout.value);
  if (plan.lora_targets.value != std::vector<std::string>{"peft-default"})
    give(hf.lora_target_modules, plan.lora_targets.value);
  give(hf.load_in_4bit, plan.quantization.value != Quantization::none);
  if (*hf.load_in_4bit.value) give(hf.bnb_4bit_quant_type, plan.quantization.value);
  give(hf.use_bnb_nested_quant, plan.double_quantization.value);
}

void write_length(const TrainingPlan& plan, bool sft, Hf& hf) {
  give(hf.per_device_train_batch_size, plan.micro_batch_size.value);
  give(hf.gradient_accumulation_steps, plan.gradient_accumulation_steps.value);
  if (sft) return give(hf.max_length, plan.sequence_length.value);
  if (!plan.padding_mask.value) return give(hf.block_size, plan.sequence_length.value);
  give(hf.max_seq_length, plan.sequence_length.value);
  give(hf.pad_to_max_length, true);
}

void write_step(const TrainingPlan& plan, Hf& hf) {
  const bool momentum = plan.optimizer.value == "sgd_momentum";
  give(hf.optim, momentum ? "sgd" : trainer_name(plan.optimizer.value));
  if (momentum) give(hf.optim_args, std::string("momentum=0.9"));
  give(hf.max_grad_norm, plan.clip_gradients.value ? 1.0 : 0.0);
  give(hf.activation_checkpointing, plan.gradient_checkpointing.value);
  give(hf.use_reentrant, plan.reentrant_checkpointing.value);
  give(hf.bf16, plan.autocast.value == Autocast::bf16);
  give(hf.fp16, plan.autocast.value == Autocast::fp16);
  give(hf.dtype, plan.weights_dtype.value);
}

std::string write(const TrainingPlan& plan) {
  const bool sft = plan.loss.value == Loss::chunked_logprob || plan.adapter.value != Adapter::none;
  Hf hf;
  give(hf.trainer, std::string(sft ? "sft" : "trainer"));
  give(hf.model_name_or_path, plan.model.value);
  write_length(plan, sft, hf);
  write_step(plan, hf);
  if (sft) write_adapter(plan, hf);
  give(hf.attn_implementation, plan.attention.value);
  if (!sft) give(hf.use_cache, plan.use_cache.value);
  return write_rows(table(), hf);
}

}  // namespace

namespace dialects {
extern const Dialect hf;
const Dialect hf{"hf", "transformers' TrainingArguments and TRL's SFTConfig", [] { return keys_of(table()); }, read,
                 write};
}  // namespace dialects

}  // namespace oomplan::ingestion
