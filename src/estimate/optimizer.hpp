// One optimizer step, played from models/optimizers/<name>.yaml; what no table can say is in optimizers/.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "oomplan/catalog/optimizer.hpp"
#include "parameter.hpp"

namespace oomplan::estimator {

class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;
  /// Updates the parameters that have a gradient; creates their state the first time.
  virtual void step(Torch& torch, const Parameters& parameters) = 0;
};

/// The optimizer of that name, or null. `fp32_embeddings`: an 8-bit one keeps embeddings' state in fp32.
/// `decayed_first`: it is given two groups of parameters, norms and biases in the second (transformers' Trainer:
/// get_decay_parameter_names).
std::unique_ptr<Optimizer> make_optimizer(std::string_view name, bool fp32_embeddings = false,
                                          bool decayed_first = false);

/// Updates some parameters within a step; a file of optimizers/ each. It is new for each run.
class OptimizerCode {
 public:
  OptimizerCode() = default;
  OptimizerCode(const OptimizerCode&) = delete;
  OptimizerCode& operator=(const OptimizerCode&) = delete;
  virtual ~OptimizerCode() = default;
  /// Before the first parameter of each step.
  virtual void begin() {}
  virtual void update(Torch& torch, const Parameter& parameter) = 0;
  /// After the last one.
  virtual void end() {}
  /// After the last one of all groups.
  virtual void end_of_step() {}
};

using MakeOptimizerCode = std::unique_ptr<OptimizerCode> (*)();

/// A tensor of `sizes` that lives from step to step.
Tensor optimizer_state(Torch& torch, const Dims& sizes, DType dtype, const char* op);

/// torch.nn.utils.clip_grad_norm_ (foreach): a norm a tensor, stacked.
void clip_gradients(Torch& torch, const Parameters& parameters);

}  // namespace oomplan::estimator
