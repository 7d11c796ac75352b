// Optimizers that step inside backward.
#pragma once

#include <map>
#include <memory>

#include "model.hpp"
#include "optimizer.hpp"
#include "torch/torch.hpp"

namespace oomplan::estimator {

/// An optimizer for each parameter, which steps and frees the gradient as soon as backward has it (torchtune 0.6.1:
/// register_optim_in_bwd_hooks).
class InBackward final : public GradientHook {
 public:
  InBackward(const TrainingPlan& plan, const Parameters& parameters);
  void accumulated(Torch& torch, const Tensor& leaf) override;

 private:
  struct Own {
    std::unique_ptr<Optimizer> optimizer{};
    Parameters parameter{};
  };
  std::map<StorageId, Own> own_{};  ///< By what holds the parameter.
};

}  // namespace oomplan::estimator
