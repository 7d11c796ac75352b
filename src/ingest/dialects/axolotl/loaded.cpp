#include "loaded.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "../../loaders.hpp"
#include "../../stack.hpp"

namespace oomplan::ingestion::axolotl {
namespace {

// axolotl 0.18.0, monkeypatch/lora_kernels.py, get_attention_cls_from_config: of a mistral3 it patches
// MistralAttention, which a Ministral 3 has none of.
void check_patched_attention(TrainingPlan& plan, const Architecture& model) {
  if (model.model_type != "mistral3" || !has_op(model, "rotary_attention", "scaled_by_position")) return;
  const Origin origin = stack_of("axolotl-0.18").origin("axolotl", "get_attention_cls_from_config");
  plan.kernels.lora_qkv = {false, origin};
  plan.kernels.lora_o = {false, origin};
}

// It loads the whole model whatever it is trained on, freezes nothing of it by itself, and adapts every linear layer,
// the tower's too (axolotl 0.18.0: loaders/model.py, loaders/adapter.py). Measured for these, adapters with checkpoints
// alone.
bool is_measured_whole(const TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 2> measured{"gemma3", "mistral3"};
  const bool measured_so = plan.adapter.kind.value == Adapter::none || plan.checkpointing.on.value;
  return plan.images.count.value == 0 && measured_so && model.task == Task::causal_lm &&
         std::ranges::count(measured, model.model_type) > 0 && has_op(model, "rotary_attention");
}

}  // namespace

void suit(TrainingPlan& plan, const Architecture& model) {
  check_patched_attention(plan, model);
  if (!is_measured_whole(plan, model)) leave_own_loading(plan, model);
}

}  // namespace oomplan::ingestion::axolotl
