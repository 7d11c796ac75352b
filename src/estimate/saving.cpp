#include "saving.hpp"

#include <algorithm>
#include <array>

namespace oomplan::estimator {
namespace {

/// Of a family, the modules whose weights are permuted, or joined with another's.
struct Converted {
  std::string_view model_type{};
  std::array<std::string_view, 5> modules{};
};

constexpr std::array converted{
    Converted{"torchtune_llama", {"q_proj", "k_proj"}},
    Converted{"torchtune_gemma", {"q_proj", "k_proj"}},
    Converted{"torchtune_phi3", {"q_proj", "k_proj", "v_proj", "w1", "w3"}},
};

bool is_of(const Parameter& p, const Converted& family) {
  return std::ranges::any_of(family.modules, [&](std::string_view module) {
    return !module.empty() && p.name.ends_with("." + std::string(module) + ".weight");
  });
}

}  // namespace

void convert_weights(Torch& t, const TrainingPlan& plan, const Architecture& architecture,
                     const Parameters& parameters) {
  const auto family = std::ranges::find(converted, architecture.model_type, &Converted::model_type);
  const bool on_gpu = plan.framework.starts_with("torchtune 0.6") && plan.adapter.kind.value == Adapter::none;
  if (family == converted.end() || !on_gpu) return;
  std::vector<std::pair<std::int16_t, Tensor>> copies;  // By layer.
  for (const Parameter& p : parameters) {
    if (!is_of(p, *family)) continue;
    Restore layer(t.recorder.scope.layer, std::int16_t{p.layer()});
    copies.emplace_back(p.layer(), t.empty(p.sizes, p.held->dtype, "aten::clone"));
  }
  for (auto& [at, copy] : copies) {
    Restore layer(t.recorder.scope.layer, std::int16_t{at});
    copy.reset();
  }
}

}  // namespace oomplan::estimator
