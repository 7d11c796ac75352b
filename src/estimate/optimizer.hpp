// One optimizer step, played.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "torch/torch.hpp"

namespace oomplan::estimator {

/// How an optimizer holds and updates its state; a row a name that plans use. The frameworks' own names are the
/// dialects' matter.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;
  /// Updates the parameters that have a gradient; creates their state the first time.
  virtual void step(Torch& torch, const std::vector<Tensor>& parameters) = 0;
};

/// The optimizer of that name, or null. `fp32_embeddings`: an 8-bit one keeps embeddings' state in fp32.
std::unique_ptr<Optimizer> make_optimizer(std::string_view name, bool fp32_embeddings = false);

std::vector<std::string_view> known_optimizers();

/// torch.nn.utils.clip_grad_norm_ (foreach): a norm a tensor, stacked.
void clip_gradients(Torch& torch, const std::vector<Tensor>& parameters);

}  // namespace oomplan::estimator
