// The keys of Hugging Face's configs.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "../../loader_keys.hpp"
#include "../../rows.hpp"

namespace oomplan::ingestion::hf {

/// What is said of evaluation, and of what follows it.
struct EvaluationKeys {
  Arg<std::string> strategy{};  ///< "no", "steps", "epoch".
  Arg<bool> on_start{};
  Arg<bool> asked{};  ///< do_eval
  Arg<std::int64_t> rows{};
  Arg<std::int64_t> accumulation{};
  Arg<bool> loss_only{};
  Arg<bool> metrics_by_batch{};
  Arg<std::vector<std::string>> kept_for_metrics{};
  Arg<std::string> best_metric{};
  Arg<bool> best_at_end{};
  Arg<bool> all_bf16{};
  Arg<bool> all_fp16{};
  Arg<std::string> saves{};  ///< "no", "steps", "epoch", "best".
};

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
  Arg<bool> use_liger_kernel{};
  Arg<bool> liger_rope{};
  Arg<bool> liger_rms_norm{};
  Arg<bool> liger_swiglu{};
  Arg<bool> liger_fused_linear_cross_entropy{};
  Arg<bool> precompute_ref_log_probs{};
  Arg<std::int64_t> precompute_ref_batch_size{};
  Arg<std::string> alloc_conf{};
  LoaderKeys loader{};
  EvaluationKeys evaluation{};
};

/// The feature that a key of another trainer of TRL asks for.
inline constexpr std::string_view other_training = "preference, RL or distillation training";

Table<Hf> table();
std::span<const Feature> features();

}  // namespace oomplan::ingestion::hf
