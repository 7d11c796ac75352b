// What acts on all of a model's modules alike, whichever ops they are made of: how a rank holds parameters, when they
// are whole, what becomes of their gradients. A file of policies/ each.
#pragma once

#include <memory>

#include "oomplan/core/dtype.hpp"
#include "parameter.hpp"

namespace oomplan {
struct OptimizerFacts;
struct TrainingPlan;
}  // namespace oomplan

namespace oomplan::estimator {

class Optimizer;

/// Modules outside the blocks that a policy may take apart: the input embedding, the last norm, the head.
enum class Site : std::uint8_t { embedding, norm, head };

class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  /// Makes the tensors of a parameter; its name, part and sizes are known.
  virtual void hold(Torch& torch, Parameter& parameter, DType dtype) = 0;
  /// Every parameter is there, and keeps its address.
  virtual void wrap(Torch&, Parameters&) {}
  /// Around model(**batch).
  virtual void enter_model(Torch&) {}
  virtual void leave_model(Torch&, std::initializer_list<Tensor*> /*outputs*/) {}
  /// One more of what the model returns.
  virtual void leave_model_with(Torch&, const Tensor& /*output*/) {}
  /// As enter_model(), of a pipeline's stage, whose input may ask for a gradient.
  virtual Tensor enter_stage(Torch& torch, const Tensor& input) {
    enter_model(torch);
    return input;
  }
  /// Around a block's forward function, and again around its recomputation: what goes in, what comes out.
  virtual Tensor enter_block(Torch&, int /*layer*/, const Tensor& input) { return input; }
  virtual Tensor leave_block(Torch&, int /*layer*/, const Tensor& output) { return output; }
  /// Whether that is outside of such checkpoints, so that recomputation does not come by.
  virtual bool stands_around_checkpoints(bool /*reentrant*/) const { return false; }
  /// Around the forward function of a module outside the blocks.
  virtual Tensor enter_module(Torch&, Site, const Tensor& input) { return input; }
  virtual Tensor leave_module(Torch&, Site, const Tensor& output) { return output; }
  /// Around the forward function of a module with weights of its own, wherever it stands.
  virtual Tensor enter_leaf(Torch&, std::initializer_list<const Tensor*> /*weights*/, const Tensor& input) {
    return input;
  }
  virtual Tensor leave_leaf(Torch&, std::initializer_list<const Tensor*> /*weights*/, const Tensor& output) {
    return output;
  }
  /// A module without weights is called that stands beside others, not around them: an activation.
  virtual void enter_bare(Torch&) {}
  /// A weight that is read outside its module's forward function (TRL's fused head).
  virtual Tensor read_weight(Torch&, const Tensor& whole) { return whole; }
  /// One of LoRA's matrices is asked for outside its module's forward function, and stays whole (Axolotl's kernels).
  virtual void unshard(Torch&, const Tensor& /*whole*/) {}
  /// A micro-batch begins; `last`: of those before an optimizer step.
  virtual void begin(Torch&, bool /*last*/) {}
  /// The end of backward.
  virtual void finish(Torch&) {}
  /// The end of a pipeline's micro-batches, whose gradients are reduced together.
  virtual void reduce(Torch&) {}
  /// A whole copy of a parameter that this rank has a part of, for what reads it outside of the model (TRL, for vLLM);
  /// nothing where it has all of it.
  virtual Tensor gathered(Torch&, const Parameter&) { return {}; }
  /// A pipeline has all that ops are given made whole, or given back; and so has TRL for what goes around the hooks of
  /// modules meanwhile.
  virtual void unshard_all(Torch&) {}
  virtual void reshard_all(Torch&) {}
  /// The optimizer's step, behind what clips gradients; the parameters have theirs.
  virtual void step(Torch& torch, Optimizer& optimizer, const OptimizerFacts& facts, const Parameters& parameters);
  /// A trained parameter that no backward pass reached, where the ranks stop at that; else null.
  virtual const Parameter* unreached() const { return nullptr; }
  /// Whether each micro-batch does what the one before does but for gradients that are there already.
  virtual bool repeats() const { return false; }
};

/// How a plan's rank holds a model: one that is trained, or one that is only asked.
std::unique_ptr<Policy> make_policy(const TrainingPlan& plan, bool trained = true);

}  // namespace oomplan::estimator
