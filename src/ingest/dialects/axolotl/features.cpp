// What Axolotl 0.18.0 can be asked for that affects memory and is not played yet.
#include <algorithm>
#include <array>

#include "keys.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

template <class Names>
bool holds(const Names& names, std::string_view text) {
  return std::ranges::count(names, text) > 0;
}

bool is_several(const Node& node) {
  const auto number = node.as_integer();
  return is_set(node) && (!number || *number > 1);
}

bool is_device_map(const Node& node) { return is_set(node) && node.text != "auto"; }
bool is_other_than_sdpa(const Node& node) { return is_set(node) && node.text != "sdpa"; }

bool is_other_experts(const Node& node) {
  constexpr std::array<std::string_view, 3> plain{"eager", "batched_mm", "grouped_mm"};
  return is_set(node) && !holds(plain, node.text);
}

bool is_other_attention(const Node& node) {
  constexpr std::array<std::string_view, 6> others{
      "flash_attention_3", "flash_attention_4", "flex_attention", "xformers", "sage", "fp8"};
  return holds(others, node.text) || node.text.find('/') != std::string::npos;
}

bool is_other_adapter(const Node& node) {
  constexpr std::array<std::string_view, 2> played{"lora", "qlora"};
  return is_set(node) && !holds(played, node.text);
}

// "offload" and "offload_disk".
bool is_text(const Node& node) { return is_set(node) && !node.as_boolean(); }

bool is_other_class(const Node& node) {
  return is_set(node) && node.text.find("ForCausalLM") == std::string::npos && node.text != "AutoTokenizer";
}

bool is_loftq(const Node& node) {
  const Node* loftq = node.find("loftq_config");
  return loftq != nullptr && is_set(*loftq);
}

// Rotary settings and limits of position change no tensor's size; a width, a depth or a vocabulary does.
bool is_reshaping(const Node& node) {
  return is_set(node) && std::ranges::any_of(node.entries, [](const Entry& entry) {
           return !entry.key.starts_with("rope") && entry.key != "max_position_embeddings" && entry.key != "use_cache";
         });
}

bool is_loading_argument(const Node& node) {
  constexpr std::array<std::string_view, 4> matter{"attn_implementation", "dtype", "torch_dtype",
                                                   "quantization_config"};
  return std::ranges::any_of(node.entries, [&](const Entry& entry) { return holds(matter, entry.key); });
}

bool is_costly_optim_args(const Node& node) {
  constexpr std::array<std::string_view, 8> free{"betas", "eps",   "weight_decay", "lr",
                                                 "beta1", "beta2", "beta3",        "decouple_lr"};
  if (!node.is_mapping()) return is_set(node);
  return std::ranges::any_of(node.entries, [&](const Entry& entry) { return !holds(free, entry.key); });
}

bool is_modelling(const Node& plugin) {
  // Those of Liger, the kernels, expert parallelism and cut cross entropy act through keys of their own.
  constexpr std::array<std::string_view, 6> quiet{"LigerPlugin",           "KernelsPlugin", "ExpertParallelPlugin",
                                                  "CutCrossEntropyPlugin", "LMEvalPlugin",  "SwanLabPlugin"};
  return std::ranges::none_of(quiet, [&](std::string_view name) { return plugin.text.ends_with(name); });
}

bool is_modelling_plugin(const Node& node) {
  return node.is_sequence() ? std::ranges::any_of(node.items, is_modelling) : is_set(node) && is_modelling(node);
}

constexpr std::array rows{
    Feature{"bnb_config_kwargs.llm_int8_skip_modules", "modules left out of quantization"},
    Feature{"gradient_checkpointing_kwargs.every_n_layers", "activation checkpointing of some layers"},
    Feature{"gradient_checkpointing_kwargs.offload", "activation offloading"},
    Feature{"activation_offloading", "activation offloading"},
    Feature{"adapter", "adapter", is_other_adapter},
    Feature{"attn_implementation", "attention implementation", is_other_attention},
    Feature{"auto_find_batch_size", "auto_find_batch_size"},
    Feature{"batch_flattening", "batch flattening"},
    Feature{"chunked_cross_entropy", "chunked cross entropy"},
    Feature{"context_parallel_size", "context parallel", is_several},
    Feature{"ddp", "distributed data parallel"},
    Feature{"deepcompile", "DeepCompile"},
    Feature{"deepspeed", "DeepSpeed"},
    Feature{"dense_mixer", "DenseMixer"},
    Feature{"device_map", "device map", is_device_map},
    Feature{"diffusion", "diffusion LM training"},
    Feature{"dp_replicate_size", "replicated data parallel", is_several},
    Feature{"dp_shard_size", "sharded data parallel", is_several},
    Feature{"dsv4_bf16_all", "MoE kernels"},
    Feature{"dsv4_fp4_grouped_mode", "MoE kernels"},
    Feature{"dsv4_fp8_lora_kernel", "MoE kernels"},
    Feature{"dsv4_fp8_nonexpert_mode", "MoE kernels"},
    Feature{"dsv4_shared_mlp_lora_kernel", "MoE kernels"},
    Feature{"expert_backend", "MoE kernels"},
    Feature{"expert_parallel_size", "expert parallel", is_several},
    Feature{"experts_implementation", "MoE expert kernels", is_other_experts},
    Feature{"flash_attn_cross_entropy", "flash-attn cross entropy"},
    Feature{"flash_attn_cross_entropy_loss", "flash-attn cross entropy"},
    Feature{"flash_attn_d512", "large-head attention"},
    Feature{"flash_attn_fuse_mlp", "fused SwiGLU (xformers)"},
    Feature{"flash_optimum", "BetterTransformer"},
    Feature{"flex_attention", "flex attention"},
    Feature{"fp32_norms", "fp32 norms under FSDP"},
    Feature{"fp8", "fp8 training"},
    Feature{"freeze_mm_modules", "frozen multimodal modules"},
    Feature{"fsdp", "FSDP"},
    Feature{"fsdp_config", "FSDP"},
    Feature{"fused_attn_kernel", "fused RMSNorm+RoPE kernel"},
    Feature{"gemma4_fp8_nonexpert", "MoE kernels"},
    Feature{"gemma4_hybrid_attn_impl", "Gemma-4 hybrid attention"},
    Feature{"gemma4_nf4_nonexpert", "MoE kernels"},
    Feature{"gptq", "GPTQ base weights"},
    Feature{"gpu_memory_limit", "memory cap / CPU offload"},
    Feature{"gradient_checkpointing", "activation offloading", is_text},
    Feature{"grokfast_alpha", "grokfast"},
    Feature{"grokfast_lamb", "grokfast"},
    Feature{"hatchery", "remote training (Tinker/Hatchery)"},
    Feature{"image_size", "multimodal model"},
    Feature{"is_multimodal", "multimodal model"},
    Feature{"kd_trainer", "knowledge distillation"},
    Feature{"large_head_attention", "large-head attention", is_other_than_sdpa},
    Feature{"layer_offloading", "layer offloading"},
    Feature{"liger_cross_entropy", "liger cross entropy"},
    Feature{"liger_fused_linear_cross_entropy", "liger fused linear cross entropy"},
    Feature{"liger_glu_activation", "liger kernels"},
    Feature{"liger_layer_norm", "liger kernels"},
    Feature{"liger_rms_norm", "liger kernels"},
    Feature{"liger_rms_norm_gated", "liger kernels"},
    Feature{"liger_rope", "liger kernels"},
    Feature{"liger_swiglu", "liger kernels"},
    Feature{"lisa_n_layers", "LISA"},
    Feature{"lisa_step_interval", "LISA"},
    Feature{"llama4_linearized_experts", "linearized experts"},
    Feature{"llmcompressor", "LLM Compressor"},
    Feature{"load_in_8bit", "8-bit base weights"},
    Feature{"lora_exclude_modules", "LoRA exclude modules"},
    Feature{"lora_modules_to_save", "LoRA modules_to_save"},
    Feature{"lora_on_cpu", "adapter loaded on CPU"},
    Feature{"lora_rank_pattern", "LoRA rank pattern"},
    Feature{"lora_target_parameters", "LoRA on parameters"},
    Feature{"max_memory", "memory cap / CPU offload"},
    Feature{"mora", "MoRA adapter"},
    Feature{"model_config", "overridden model config", is_reshaping},
    Feature{"model_kwargs", "model loading arguments", is_loading_argument},
    Feature{"model_quantization_config", "pre-quantized base weights"},
    Feature{"model_type", "model class", is_other_class},
    Feature{"moe_bnb_fast", "MoE kernels"},
    Feature{"moe_dequant_chunk_size", "MoE kernels"},
    Feature{"moe_grouped_backend", "MoE kernels"},
    Feature{"neftune_noise_alpha", "NEFTune"},
    Feature{"noisy_embedding_alpha", "NEFTune"},
    Feature{"nonexpert_quantization", "MoE kernels"},
    Feature{"num_labels", "classification head"},
    Feature{"nvfp4_merge_aware", "NVFP4 merge-aware training"},
    Feature{"optim_args", "optimizer arguments", is_costly_optim_args},
    Feature{"optim_target_modules", "optimizer target modules"},
    Feature{"orpo_alpha", "orpo loss"},
    Feature{"overrides_of_model_config", "overridden model config", is_reshaping},
    Feature{"overrides_of_model_kwargs", "model loading arguments", is_loading_argument},
    Feature{"peft", "LoftQ", is_loftq},
    Feature{"peft_layer_replication", "LoRA layer replication"},
    Feature{"peft_layers_to_transform", "LoRA on some layers"},
    Feature{"peft_trainable_token_indices", "trainable token indices"},
    Feature{"peft_use_dora", "DoRA"},
    Feature{"plugins", "plugin", is_modelling_plugin},
    Feature{"peft_adapter", "llama-adapter"},
    Feature{"pretraining_dataset", "streaming pretraining data"},
    Feature{"process_reward_model", "process reward model"},
    Feature{"processor_type", "multimodal model"},
    Feature{"qat", "QAT"},
    Feature{"quantize_moe_experts", "MoE expert quantization"},
    Feature{"relora", "ReLoRA"},
    Feature{"resize_token_embeddings_to_32x", "embedding resize"},
    Feature{"reward_model", "reward model"},
    Feature{"rl", "reinforcement/preference training (rl)"},
    Feature{"sage_attention", "sage attention"},
    Feature{"scaling_softmax", "scaled softmax (flex only)"},
    Feature{"selective_checkpointing", "selective checkpointing"},
    Feature{"sequence_parallel_degree", "context parallel", is_several},
    Feature{"shrink_embeddings", "embedding resize"},
    Feature{"spectrum_model_name", "spectrum"},
    Feature{"spectrum_top_fraction", "spectrum"},
    Feature{"tensor_parallel_size", "tensor parallel", is_several},
    Feature{"tiled_mlp", "tiled MLP"},
    Feature{"tokens", "embedding resize"},
    Feature{"torch_compile", "torch.compile"},
    Feature{"trainer_cls", "custom trainer"},
    Feature{"type_of_model", "model class", is_other_class},
    Feature{"unfrozen_parameters", "unfrozen_parameters"},
    Feature{"use_dsv4_kernels", "MoE kernels"},
    Feature{"use_eaft", "EAFT loss"},
    Feature{"use_glm_dsa_kernels", "MoE kernels"},
    Feature{"use_kernels", "Hub kernels"},
    Feature{"use_onebitllms", "BitNet (onebitllms)"},
    Feature{"use_scattermoe", "MoE kernels"},
    Feature{"use_sonicmoe", "MoE kernels"},
    Feature{"world_size", "distributed data parallel", is_several},
    Feature{"xformers_attention", "xformers attention"},
};

}  // namespace

std::span<const Feature> features() { return rows; }

}  // namespace oomplan::ingestion::axolotl
