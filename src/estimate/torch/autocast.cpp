// aten/src/ATen/autocast_mode.cpp.
#include "torch/torch.hpp"
#include "torch/unsloth.hpp"

namespace oomplan::estimator {

void Torch::enter_autocast(std::optional<DType> dtype) {
  autocast_stack_.push_back(autocast_);
  autocast_ = dtype;
  if (dtype) ++autocast_depth_;
}

void Torch::exit_autocast() {
  if (autocast_ && --autocast_depth_ == 0) {
    Restore layer(recorder.scope.layer, recorder.scope.layer);
    for (auto& [leaf, copy] : autocast_cache_) {
      recorder.scope.layer = leaf->layer;
      copy.reset();
    }
    autocast_cache_.clear();
  }
  autocast_ = autocast_stack_.back();
  autocast_stack_.pop_back();
}

Tensor Torch::lowered(const Tensor& x) {
  if (!autocast_ || !x || !is_floating(x->dtype) || x->dtype == *autocast_) return x;
  // Code that Unsloth compiles casts what is trained by itself (Linear_peft_forward.py), each time.
  const bool compiled = unsloth != nullptr && unsloth->compiled();
  const bool cached = !compiled && x->dtype == DType::fp32 && x->requires_grad && x->leaf() && !x->base;
  if (cached) {
    for (const auto& [leaf, copy] : autocast_cache_) {
      if (leaf == x.get()) return copy;
    }
  }
  Tensor copy;
  {
    // A copy that is kept has a graph, whatever the pass that asks for it: one with gradients may read it next.
    Restore grad(grad_enabled, grad_enabled || cached);
    copy = to(x, *autocast_);
  }
  if (x->parameter) recorder.at(copy->storage).bucket = Bucket::autocast_copies;
  if (cached) autocast_cache_.emplace_back(x.get(), copy);
  return copy;
}

Tensor Torch::raised(const Tensor& x) { return autocast_ && x && is_floating(x->dtype) ? to(x, DType::fp32) : x; }

}  // namespace oomplan::estimator
