// The keys of Hugging Face's configs.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "../../loader_keys.hpp"
#include "../../rows.hpp"

namespace oomplan::ingestion::hf {

/// The config as the frameworks' own classes hold it.
struct Hf {
  Arg<std::string> trainer{};
  Arg<std::string> model_name_or_path{};
  Arg<std::int64_t> per_device_train_batch_size{};
  Arg<std::int64_t> gradient_accumulation_steps{};
  Arg<std::int64_t> accumulation{};  ///< accelerate's, which governs where gradient_accumulation_steps is 1.
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
  Arg<std::int64_t> model_max_length{};
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
  Arg<std::string> alloc_conf{};
  LoaderKeys loader{};
};

/// The feature that a key of another trainer of TRL asks for.
inline constexpr std::string_view other_training = "preference, RL or distillation training";

Table<Hf> table();
std::span<const Feature> features();

// What only TRL knows, and what transformers' scripts know as well.
inline constexpr std::array<std::string_view, 19> trl_only{
    "assistant_only_loss", "bnb_4bit_quant_storage", "completion_only_loss", "dataset_config", "dataset_kwargs",
    "dataset_test_split",  "dataset_text_field",     "dataset_train_split",  "datasets",       "eos_token",
    "eval_packing",        "ignore_bias_buffers",    "lora_alpha",           "pad_token",      "router_aux_loss_coef",
    "shuffle_dataset",     "test_split_size",        "truncation_mode",      "use_rslora"};

inline constexpr std::array<std::string_view, 24> trl_only_modelled{"max_length",
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
                                                                    "lora_task_type",
                                                                    "chat_template_path",
                                                                    "dataset_num_proc",
                                                                    "dataset_streaming"};

// transformers' examples (run_clm, run_mlm and their like) and scripts after Alpaca's and FastChat's.
inline constexpr std::array<std::string_view, 20> scripts_only{"cache_dir",
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
                                                               "test_file",
                                                               "token",
                                                               "tokenizer_name",
                                                               "train_file",
                                                               "use_auth_token",
                                                               "use_fast_tokenizer",
                                                               "validation_file",
                                                               "validation_split_percentage"};

inline constexpr std::array<std::string_view, 6> scripts_only_modelled{
    "block_size", "config_name", "model_max_length", "pad_to_max_length", "task_name", "preprocessing_num_workers"};

}  // namespace oomplan::ingestion::hf
