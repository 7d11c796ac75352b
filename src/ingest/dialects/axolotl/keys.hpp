// The keys of Axolotl's config.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "../../loader_keys.hpp"
#include "../../rows.hpp"

namespace oomplan::ingestion::axolotl {

enum class Bf16 : std::uint8_t { automatic, on, off };

/// What is said of evaluation.
struct EvaluationKeys {
  Arg<double> share{};        ///< val_set_size
  Arg<bool> own_rows{};       ///< test_datasets
  Arg<bool> benchmark{};      ///< do_bench_eval
  Arg<double> every{};        ///< eval_steps
  Arg<std::int64_t> times{};  ///< evals_per_epoch
  Arg<std::string> strategy{};
  Arg<double> epochs{};
  Arg<std::int64_t> rows{};
  Arg<std::int64_t> length{};
  Arg<bool> packed{};
  Arg<std::int64_t> table_size{};
  Arg<bool> metrics{};    ///< do_causal_lm_eval
  Arg<bool> generates{};  ///< generate_samples
};

/// The config as Axolotl's schema holds it.
struct Axolotl {
  Arg<std::string> base_model{};
  Arg<std::string> base_model_config{};
  Arg<std::int64_t> micro_batch_size{};
  Arg<std::int64_t> gradient_accumulation_steps{};  ///< 0: null, which is not the same as left out.
  Arg<std::int64_t> accumulation{};  ///< accelerate's, which governs where gradient_accumulation_steps is 1.
  Arg<std::int64_t> batch_size{};
  Arg<std::int64_t> sequence_len{};
  Arg<std::int64_t> pad_to_multiple_of{};
  Arg<bool> pad_to_sequence_len{};
  Arg<bool> sample_packing{};
  Arg<bool> multipack_real_batches{};
  Arg<bool> sdpa_varlen{};
  Arg<Bf16> bf16{};
  Arg<bool> fp16{};
  Arg<bool> bfloat16{};
  Arg<bool> float16{};
  Arg<std::string> adapter{};
  Arg<bool> load_in_4bit{};
  Arg<bool> embeddings_skip_upcast{};
  Arg<std::int64_t> lora_r{};
  Arg<double> lora_dropout{};
  Arg<std::vector<std::string>> lora_target_modules{};
  Arg<bool> lora_target_linear{};
  Arg<bool> peft_autocast_adapter_dtype{};
  Arg<bool> lora_mlp_kernel{};
  Arg<bool> lora_qkv_kernel{};
  Arg<bool> lora_o_kernel{};
  Arg<bool> lora_embedding_kernel{};
  Arg<Quantization> quant_type{};
  Arg<bool> double_quant{};
  Arg<DType> compute_dtype{};
  Arg<bool> trust_remote_code{};
  Arg<std::string> optimizer{};
  Arg<double> embedding_lr{};
  Arg<double> embedding_lr_scale{};
  Arg<bool> lr_groups{};
  Arg<double> max_grad_norm{};
  Arg<bool> gradient_checkpointing{};
  Arg<bool> use_reentrant{};
  Arg<Attention> attn_implementation{};
  Arg<bool> flash_attention{};
  Arg<bool> sdp_attention{};
  Arg<bool> eager_attention{};
  Arg<bool> cut_cross_entropy{};
  Arg<bool> liger_rope{};
  Arg<bool> liger_rms_norm{};
  Arg<bool> liger_glu_activation{};
  Arg<bool> liger_fused_linear_cross_entropy{};
  Arg<std::vector<std::string>> plugins{};
  LoaderKeys loader{};
  EvaluationKeys evaluation{};
};

Table<Axolotl> table();
std::span<const Feature> features();

}  // namespace oomplan::ingestion::axolotl
