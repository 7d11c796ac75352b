// What transformers' Trainer and TRL can be asked for that affects memory and is not played yet.
#include <algorithm>
#include <array>

#include "derive.hpp"

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

constexpr std::array named{
    Feature{"torch_compile", "torch.compile"},
    Feature{"torch_compile_backend", "torch.compile"},
    Feature{"torch_compile_mode", "torch.compile"},
    Feature{"parallelism_config", "tensor, context or sequence parallelism"},
    Feature{"use_cpu", "training on the CPU"},
    Feature{"accelerator_config", "accelerate's settings in a file or in text", is_text},
    Feature{"optim_target_modules", "optimizer of low rank"},
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
    Feature{"lora_task_type", "LoRA task type", is_other_task},
    Feature{"config_overrides", "a model of overridden config"},
    Feature{"config_name", "a model of another config"},
    Feature{"task_name", "a classification head"},
    Feature{"chat_template_path", "a template's tokenizer, which may resize the embeddings,", is_tokenizer},
    Feature{"beta", other_training},
};

}  // namespace

std::span<const Feature> features() { return named; }

}  // namespace oomplan::ingestion::hf
