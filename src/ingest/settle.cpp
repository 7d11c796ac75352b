// What a config leaves to the model.
#include <algorithm>
#include <array>
#include <string_view>

#include "oomplan/ingest.hpp"

namespace oomplan {
namespace {

struct Targets {
  std::string_view model_type{};
  std::array<std::string_view, 4> modules{};
};

// peft 0.21.2: utils/constants.py, TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING.
constexpr std::array peft_targets{
    Targets{"bert", {"query", "value"}},
    Targets{"gemma", {"q_proj", "v_proj"}},
    Targets{"gemma2", {"q_proj", "v_proj"}},
    Targets{"gemma3_text", {"q_proj", "v_proj"}},
    Targets{"gpt2", {"c_attn"}},
    Targets{"gpt_neox", {"query_key_value"}},
    Targets{"llama", {"q_proj", "v_proj"}},
    Targets{"mistral", {"q_proj", "v_proj"}},
    Targets{"mixtral", {"q_proj", "v_proj"}},
    Targets{"phi", {"q_proj", "v_proj", "fc1", "fc2"}},
    Targets{"qwen2", {"q_proj", "v_proj"}},
    Targets{"qwen3", {"q_proj", "v_proj"}},
    Targets{"roberta", {"query", "value"}},
    Targets{"stablelm", {"q_proj", "v_proj"}},
};

// transformers 5.23.0: _supports_sdpa = False. Where no attention is asked for its loader then takes eager.
constexpr std::array<std::string_view, 1> without_sdpa{"gemma2"};

Diagnostic no_default(const std::string& model_type) {
  return {Severity::error,
          "ingest/missing-fact",
          "no LoRA targets are given, and oomplan knows no default of peft for " + model_type,
          {},
          "give the framework's key for target modules, or --set plan.lora_targets=[…]",
          {}};
}

Diagnostic no_sdpa(const std::string& model_type, const Origin& origin) {
  return {Severity::error,
          "ingest/conflict",
          "transformers has no sdpa attention for " + model_type + " and refuses to load it so",
          origin.where,
          "ask for eager or flash_attention_2; eager is what it takes where nothing is asked for",
          {}};
}

/// sdpa by default becomes what transformers falls back to.
Diagnostics settle_attention(Setting<Attention>& attention, const std::string& model_type) {
  if (attention.value != Attention::sdpa || std::ranges::count(without_sdpa, model_type) == 0) return {};
  const Origin::Kind kind = attention.origin.kind;
  if (kind == Origin::Kind::config || kind == Origin::Kind::command_line)
    return {no_sdpa(model_type, attention.origin)};
  attention = {Attention::eager,
               {Origin::Kind::framework_default, "transformers 5.23.0: " + model_type + " has no sdpa"}};
  return {};
}

}  // namespace

Result<TrainingPlan> settle(TrainingPlan plan, const std::string& model_type) {
  if (Diagnostics errors = settle_attention(plan.attention, model_type); !errors.empty()) return errors;
  auto& targets = plan.lora_targets;
  if (plan.adapter.value == Adapter::none || targets.value != std::vector<std::string>{"peft-default"}) return plan;
  const auto* found = std::ranges::find(peft_targets, model_type, &Targets::model_type);
  if (found == peft_targets.end()) return no_default(model_type);
  targets.value.clear();
  for (const std::string_view module : found->modules) {
    if (!module.empty()) targets.value.emplace_back(module);
  }
  targets.origin = {Origin::Kind::framework_default, "peft 0.21.2: target modules of " + model_type, {}};
  return plan;
}

}  // namespace oomplan
