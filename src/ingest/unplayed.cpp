#include "unplayed.hpp"

#include <algorithm>
#include <cctype>

namespace oomplan::ingestion {
namespace {

// A regular expression, which peft matches against the modules' full names.
bool is_pattern(const std::string& target) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.'; };
  return !std::ranges::all_of(target, plain);
}

}  // namespace

void note_unplayed(TrainingPlan& plan) {
  const auto& targets = plan.lora_targets;
  if (plan.adapter.value == Adapter::none || std::ranges::none_of(targets.value, is_pattern)) return;
  plan.unmodelled.push_back({"LoRA targets by a regular expression", "lora_targets", targets.origin.where});
}

}  // namespace oomplan::ingestion
