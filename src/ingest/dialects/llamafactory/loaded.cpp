#include "loaded.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "../../loaders.hpp"
#include "../../stack.hpp"
#include "composite.hpp"

namespace oomplan::ingestion::llamafactory {
namespace {

// llamafactory 0.9.5, model/model_utils/liger_kernel.py: other models are trained as they are, with a warning.
void check_liger_models(TrainingPlan& plan, const Architecture& model) {
  constexpr auto patched = std::to_array<std::string_view>(
      {"gemma", "gemma2",   "gemma3",     "gemma3_text", "glm",       "glm4",       "glm4v",     "granite",
       "llama", "llava",    "mistral",    "mixtral",     "mllama",    "olmo2",      "paligemma", "phi3",
       "qwen2", "qwen2_vl", "qwen2_5_vl", "qwen3",       "qwen3_moe", "qwen3_next", "qwen3_5",   "gpt_oss"});
  if (std::ranges::count(patched, model.model_type) > 0) return;
  if (plan.recipe.loss.value != Loss::liger_fused_linear) return;
  const Origin origin = stack_of("llamafactory-0.9").origin("llamafactory", "apply_liger_kernel");
  for (Setting<bool>* part : {&plan.kernels.liger_rms_norm, &plan.kernels.liger_rope, &plan.kernels.liger_glu}) {
    *part = {false, origin};
  }
  plan.recipe.loss = {Loss::full_logits, origin};
}

// llamafactory 0.9.5, v1/plugins/model_plugins/kernels: of its kernels only the experts' is for CUDA, for the models
// of _TRITON_MOE_MAPPING.
void check_kernels(TrainingPlan& plan, const Architecture& model) {
  constexpr std::array<std::string_view, 3> fused{"mixtral", "qwen3_moe", "qwen3_5_moe"};
  if (std::ranges::count(fused, model.model_type) > 0) return;
  std::erase_if(plan.unmodelled, [](const Unmodelled& gap) { return gap.key == "use_v1_kernels"; });
}

// llamafactory 0.9.5, model/model_utils/attention.py: a Gemma 2 gets no sdpa but where it is asked for. It gets
// flash-attn where that is installed, which no config says and LLaMA-Factory does not ask for, and eager else.
void check_gemma2(TrainingPlan& plan, const Architecture& model) {
  Setting<Attention>& attention = plan.kernels.attention;
  if (model.model_type != "gemma2" || attention.origin.is_said()) return;
  attention = {
      Attention::eager,
      stack_of("llamafactory-0.9").origin("llamafactory", "configure_attn_implementation, without flash-attn")};
}

}  // namespace

// llamafactory 0.9.5, model/adapter.py: init_adapter asks the model itself whether it is quantized.
std::optional<Diagnostic> take_quantized(TrainingPlan& /*plan*/, Quantization /*asked*/) { return std::nullopt; }

std::optional<Diagnostic> adapt_to_model(TrainingPlan& plan, const Architecture& model) {
  leave_own_task(plan, model);
  plan_parts(plan, model);
  check_gemma2(plan, model);
  check_liger_models(plan, model);
  check_kernels(plan, model);
  return std::nullopt;
}

}  // namespace oomplan::ingestion::llamafactory
