#include "in_backward.hpp"

namespace oomplan::estimator {

InBackward::InBackward(const TrainingPlan& plan, const Parameters& parameters) {
  for (const Parameter& p : parameters) {
    if (!p.trained) continue;
    auto optimizer = make_optimizer(plan.optimizer.name.value, plan.optimizer.fp32_embedding_state.value);
    own_.try_emplace(p.held->storage, Own{std::move(optimizer), {p}});
  }
}

void InBackward::accumulated(Torch& torch, const Tensor& leaf) {
  const auto own = own_.find(leaf->storage);
  if (own == own_.end()) return;
  auto& [optimizer, parameter] = own->second;
  optimizer->step(torch, parameter);
  Restore layer(torch.recorder.scope.layer, std::int16_t{parameter.front().layer()});
  leaf->grad.reset();
}

}  // namespace oomplan::estimator
