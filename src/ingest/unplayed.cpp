#include "unplayed.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace oomplan::ingestion {
namespace {

struct Unplayed {
  Setting<bool> TrainingPlan::*fact = nullptr;
  std::string_view feature{};
  std::string_view key{};
};

constexpr std::array rows{
    Unplayed{&TrainingPlan::lora_qkv_kernel, "Axolotl's LoRA kernels", "lora_qkv_kernel"},
    Unplayed{&TrainingPlan::lora_o_kernel, "Axolotl's LoRA kernels", "lora_o_kernel"},
    Unplayed{&TrainingPlan::lora_mlp_kernel, "Axolotl's LoRA kernels", "lora_mlp_kernel"},
    Unplayed{&TrainingPlan::fp32_norms, "norms, embeddings and head in fp32 beside 16-bit weights", "fp32_norms"},
};

// A regular expression, which peft matches against the modules' full names.
bool is_pattern(const std::string& target) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  return !std::ranges::all_of(target, plain);
}

}  // namespace

void note_unplayed(TrainingPlan& plan) {
  for (const Unplayed& row : rows) {
    const Setting<bool>& fact = plan.*row.fact;
    if (fact.value) plan.unmodelled.push_back({std::string(row.feature), std::string(row.key), fact.origin.where});
  }
  const auto& targets = plan.lora_targets;
  if (plan.adapter.value == Adapter::none || std::ranges::none_of(targets.value, is_pattern)) return;
  plan.unmodelled.push_back({"LoRA targets by a regular expression", "lora_targets", targets.origin.where});
}

}  // namespace oomplan::ingestion
