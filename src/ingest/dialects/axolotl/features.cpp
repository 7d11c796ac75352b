// What Axolotl 0.18.0 can be asked for that affects memory and is not played yet, where that takes a look into the
// value; the rest is in keys.yaml.
#include <algorithm>
#include <array>

#include "derive.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

template <class Names>
bool holds(const Names& names, std::string_view text) {
  return std::ranges::count(names, text) > 0;
}

bool is_other_attention(const Node& node) {
  constexpr std::array<std::string_view, 5> others{"flash_attention_3", "flash_attention_4", "flex_attention", "sage",
                                                   "fp8"};
  return holds(others, node.text) || node.text.find('/') != std::string::npos;
}

bool is_other_class(const Node& node) {
  return is_set(node) && node.text.find("ForCausalLM") == std::string::npos && node.text != "AutoTokenizer";
}

bool is_loftq(const Node& node) {
  const Node* loftq = node.find("loftq_config");
  return loftq != nullptr && is_set(*loftq);
}

bool is_other_config(const Node& node) {
  return is_set(node) && std::ranges::any_of(node.entries, [](const Entry& entry) {
           return !is_idle_override(entry) && !is_played_override(entry);
         });
}

// from_pretrained takes any of config.json's keys too.
bool is_loading_argument(const Node& node) {
  constexpr std::array<std::string_view, 4> free{"use_cache", "revision", "trust_remote_code", "low_cpu_mem_usage"};
  return std::ranges::any_of(node.entries, [&](const Entry& entry) { return !holds(free, entry.key); });
}

bool is_costly_optim_args(const Node& node) {
  constexpr std::array<std::string_view, 8> free{"betas", "eps",   "weight_decay", "lr",
                                                 "beta1", "beta2", "beta3",        "decouple_lr"};
  if (!node.is_mapping()) return is_set(node);
  return std::ranges::any_of(node.entries, [&](const Entry& entry) { return !holds(free, entry.key); });
}

bool is_modelling(const Node& plugin) {
  // Those of Liger, the kernels, expert parallelism and cut cross entropy act through keys of their own.
  constexpr std::array<std::string_view, 5> quiet{"KernelsPlugin", "ExpertParallelPlugin", "LMEvalPlugin",
                                                  "SwanLabPlugin", "OomplanPlugin"};
  return !is_plugin(plugin.text, liger_plugin_name) && !is_plugin(plugin.text, cut_plugin_name) &&
         std::ranges::none_of(quiet, [&](std::string_view name) { return plugin.text.ends_with(name); });
}

bool is_modelling_plugin(const Node& node) {
  return node.is_sequence() ? std::ranges::any_of(node.items, is_modelling) : is_set(node) && is_modelling(node);
}

constexpr std::array rows{
    Feature{"attn_implementation", "attention implementation", is_other_attention},
    Feature{"model_config", "overridden model config", is_other_config},
    Feature{"model_kwargs", "model loading arguments", is_loading_argument},
    Feature{"model_type", "model class", is_other_class},
    Feature{"optim_args", "optimizer arguments", is_costly_optim_args},
    Feature{"overrides_of_model_config", "overridden model config", is_other_config},
    Feature{"overrides_of_model_kwargs", "model loading arguments", is_loading_argument},
    Feature{"peft", "LoftQ", is_loftq},
    Feature{"plugins", "plugin", is_modelling_plugin},
    Feature{"type_of_model", "model class", is_other_class},
};

}  // namespace

std::span<const Feature> features() { return rows; }

bool is_idle_override(const Entry& entry) {
  return entry.key.starts_with("rope") || entry.key == "max_position_embeddings" || entry.key == "use_cache";
}

bool is_played_override(const Entry& entry) {
  constexpr std::array<std::string_view, 4> numbers{"num_hidden_layers", "n_layer", "sliding_window",
                                                    "num_experts_per_tok"};
  constexpr std::array<std::string_view, 3> others{"torch_dtype", "dtype", "model_type"};
  const Node::Kind kind = entry.value.kind;
  if (kind == Node::Kind::integer || kind == Node::Kind::null) return holds(numbers, entry.key);
  return entry.value.is_scalar() && !holds(others, entry.key);
}

}  // namespace oomplan::ingestion::axolotl
