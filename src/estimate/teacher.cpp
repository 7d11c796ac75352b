#include "teacher.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace oomplan::estimator {
namespace {

// The layers whose cache of keys and values runs were held against.
constexpr std::array<std::string_view, 1> caching{"rotary_attention"};

/// Whether a layer looks at other tokens than its own, of which a cache keeps something.
bool remembers(const OpSpec& op) {
  constexpr std::array<std::string_view, 4> parts{"attention", "mixer", "conv", "delta"};
  return std::ranges::any_of(parts, [&](std::string_view part) { return op.op.find(part) != op.op.npos; });
}

bool fills_known_cache(const Architecture& teacher) {
  return !any_op(teacher, [](const OpSpec& op) { return remembers(op) && std::ranges::count(caching, op.op) == 0; });
}

}  // namespace

TrainingPlan plan_of_teacher(TrainingPlan plan) {
  plan.model.name = plan.model.teacher;
  plan.precision.weights_dtype = plan.model.teacher_dtype;
  plan.recipe.kind.value = RecipeKind::supervised;
  plan.adapter.kind.value = Adapter::none;
  plan.checkpointing.on.value = false;
  return plan;
}

void check_distillation(const TrainingPlan& plan, const Architecture& architecture, Diagnostics& errors) {
  const auto cannot = [&](const std::string& what, const Origin& origin) {
    errors.push_back({Severity::error, "estimate/unmodelled", what + " is not modelled yet", origin.where, {}, {}});
  };
  const Setting<std::string>& name = plan.model.teacher;
  if (architecture.teacher == nullptr) return cannot("distillation without a teacher", plan.recipe.kind.origin);
  const Architecture& teacher = *architecture.teacher;
  if (teacher.task != architecture.task) cannot("a teacher for another task than its student's", name.origin);
  if (teacher.router_logits || !fills_known_cache(teacher)) {
    cannot("a teacher that is a " + teacher.model_type + ", with its cache of keys and values,", name.origin);
  }
  if (teacher.no_sdpa.empty() != architecture.no_sdpa.empty()) {
    cannot("a teacher whose attention is another than its student's", name.origin);
  }
  if (architecture.router_logits) cannot("distillation into a mixture of experts", plan.model.name.origin);
  if (plan.quantization.kind.value != Quantization::none) {
    cannot("a quantized model in distillation", plan.quantization.kind.origin);
  }
  if (plan.checkpointing.offload.value != Offload::none) {
    cannot("activation offloading in distillation", plan.checkpointing.offload.origin);
  }
}

}  // namespace oomplan::estimator
