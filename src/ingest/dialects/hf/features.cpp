// What transformers' Trainer and TRL can be asked for that affects memory and is not played yet.
#include <algorithm>
#include <array>
#include <vector>

#include "keys.hpp"

namespace oomplan::ingestion::hf {
namespace {

bool is_other_attention(const Node& node) {
  constexpr std::array<std::string_view, 3> others{"flash_attention_3", "flash_attention_4", "flex_attention"};
  return std::ranges::count(others, node.text) > 0 || node.text.find('/') != std::string::npos;
}

bool is_other_loss(const Node& node) {
  constexpr std::array<std::string_view, 3> same{"nll", "chunked_nll", "dft"};
  return is_set(node) && std::ranges::count(same, node.text) == 0;
}

bool is_other_task(const Node& node) { return is_set(node) && node.text != "CAUSAL_LM"; }

// SFTTrainer reads a template's file; of anything else it takes the tokenizer, whose new tokens resize the embeddings
// and, under LoRA, train the head (sft_trainer.py: clone_chat_template).
bool is_tokenizer(const Node& node) {
  return is_set(node) && !node.text.ends_with(".jinja") && !node.text.ends_with(".j2");
}

bool is_text(const Node& node) { return node.kind == Node::Kind::string; }

bool is_given(const Node& node) { return node.kind != Node::Kind::null; }

constexpr std::array named{
    Feature{"deepspeed", "DeepSpeed"},
    Feature{"fsdp", "FSDP"},
    Feature{"torch_compile", "torch.compile"},
    Feature{"torch_compile_backend", "torch.compile"},
    Feature{"torch_compile_mode", "torch.compile"},
    Feature{"parallelism_config", "tensor, context or sequence parallelism"},
    Feature{"use_cpu", "training on the CPU"},
    Feature{"accelerator_config", "accelerate's settings in a file or in text", is_text},
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
    Feature{"config_name", "a model of another config"},
    Feature{"task_name", "a classification head"},
    Feature{"chat_template_path", "a template's tokenizer, which may resize the embeddings,", is_tokenizer},
    Feature{"beta", other_training},
};

// What TRL's scripts for DPO, GRPO, RLOO, KTO, reward models and distillation take and SFT's does not, in this version
// and before it. Such a key tells the script, whatever its value.
constexpr auto other_scripts = std::to_array<std::string_view>({"cache_implementation",
                                                                "cast_lm_head_to_fp32",
                                                                "center_rewards_coefficient",
                                                                "chat_template_kwargs",
                                                                "cliprange",
                                                                "cliprange_value",
                                                                "cpo_alpha",
                                                                "delta",
                                                                "desirable_weight",
                                                                "disable_dropout",
                                                                "discopop_tau",
                                                                "distillation_alpha",
                                                                "distillation_mode",
                                                                "distillation_objective",
                                                                "distillation_topk",
                                                                "distillation_weight",
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
                                                                "filter_all_incorrect",
                                                                "force_use_ref_model",
                                                                "generate_during_eval",
                                                                "generate_from_teacher",
                                                                "generation_batch_size",
                                                                "generation_kwargs",
                                                                "importance_sampling_level",
                                                                "is_encoder_decoder",
                                                                "iw_opd_epsilon",
                                                                "iw_opd_gamma",
                                                                "kl_coef",
                                                                "label_smoothing",
                                                                "ld_alpha",
                                                                "lmbda",
                                                                "local_rollout_forward_batch_size",
                                                                "log_completions",
                                                                "log_completions_hub_repo",
                                                                "log_multimodal",
                                                                "log_unique_prompts",
                                                                "loss_weights",
                                                                "mask_truncated_completions",
                                                                "max_completion_length",
                                                                "max_new_tokens",
                                                                "max_prompt_length",
                                                                "max_reprompt_len",
                                                                "max_staleness",
                                                                "max_target_length",
                                                                "max_tool_calling_iterations",
                                                                "min_p",
                                                                "missing_eos_penalty",
                                                                "model_adapter_name",
                                                                "multi_objective_aggregation",
                                                                "normalize_advantages",
                                                                "num_completions_to_print",
                                                                "num_generations",
                                                                "num_generations_eval",
                                                                "num_iterations",
                                                                "num_loss_tokens_to_skip",
                                                                "num_mini_batches",
                                                                "num_ppo_epochs",
                                                                "num_sample_generations",
                                                                "num_value_samples",
                                                                "off_policy_mask_threshold",
                                                                "ref_adapter_name",
                                                                "ref_model_init_kwargs",
                                                                "ref_model_mixup_alpha",
                                                                "ref_model_name_or_path",
                                                                "ref_model_sync_steps",
                                                                "reference_free",
                                                                "repetition_penalty",
                                                                "response_length",
                                                                "reward_baseline_threshold",
                                                                "reward_clip_range",
                                                                "reward_funcs",
                                                                "reward_model_name_or_path",
                                                                "reward_model_path",
                                                                "reward_weights",
                                                                "rloo_k",
                                                                "rpo_alpha",
                                                                "sapo_temperature_neg",
                                                                "sapo_temperature_pos",
                                                                "scale_rewards",
                                                                "seq_kd",
                                                                "sft_model_path",
                                                                "simpo_gamma",
                                                                "steps_per_generation",
                                                                "sync_ref_model",
                                                                "teacher_model_init_kwargs",
                                                                "teacher_model_kind",
                                                                "teacher_model_name_or_path",
                                                                "teacher_model_revision",
                                                                "teacher_model_server_url",
                                                                "teacher_server_urls",
                                                                "teacher_sync_steps",
                                                                "teacher_temperature",
                                                                "teacher_tokenizer_name_or_path",
                                                                "teacher_top_k",
                                                                "teacher_update_rate",
                                                                "temperature",
                                                                "token_level_kl",
                                                                "top_entropy_quantile",
                                                                "top_k",
                                                                "top_p",
                                                                "total_episodes",
                                                                "tpo_alpha",
                                                                "tpo_l_gamma",
                                                                "transformers_continuous_batching_config",
                                                                "undesirable_weight",
                                                                "use_adaptive_entropy",
                                                                "use_bias_correction_kl",
                                                                "use_extended_uld",
                                                                "use_logits_to_keep",
                                                                "use_teacher_server",
                                                                "use_transformers_continuous_batching",
                                                                "use_transformers_paged",
                                                                "use_uld_loss",
                                                                "use_vllm",
                                                                "use_weighting",
                                                                "vespo_k_neg",
                                                                "vespo_k_pos",
                                                                "vespo_lambda_neg",
                                                                "vespo_lambda_pos",
                                                                "vf_coef",
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
                                                                "vllm_tensor_parallel_size",
                                                                "whiten_rewards"});

}  // namespace

std::span<const Feature> features() {
  static const auto all = [] {
    std::vector<Feature> out(named.begin(), named.end());
    for (const auto key : other_scripts) out.push_back({key, other_training, is_given});
    return out;
  }();
  return all;
}

}  // namespace oomplan::ingestion::hf
