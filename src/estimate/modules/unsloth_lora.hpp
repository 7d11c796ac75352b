// Unsloth's LoRA functions (unsloth/kernels/fast_lora.py): LoRA_QKV, LoRA_W and LoRA_MLP in place of peft's forward.
//
// The adapters are saved as they are and cast anew in backward; the input's gradient is written over the input (but for
// LoRA_W's), those of gate and up over what was saved of them. In forward, 4-bit weights go through one buffer that
// stays.
#pragma once

#include <array>
#include <initializer_list>

#include "modules/linear.hpp"

namespace oomplan::estimator {

/// Linear layers of one input, played by one autograd function where all are adapted. Must outlive the graph.
class UnslothLora {
 public:
  UnslothLora() = default;
  UnslothLora(std::initializer_list<const Linear*> members);

  /// Otherwise Unsloth leaves the layers' own forward in place.
  bool complete() const;
  /// Some are adapted and some not.
  bool partial() const;

  /// The products of x with each layer.
  std::array<Tensor, 3> operator()(Play& play, const Tensor& x) const;

  /// down(silu(gate(x)) * up(x)) of {gate, up, down}.
  Tensor mlp(Play& play, const Tensor& x) const;

 private:
  std::size_t count() const { return static_cast<std::size_t>(count_); }
  const Linear& member(std::size_t i) const { return *members_[i]; }
  NodeRef record(Play& play, const char* name, const Tensor& x, BackwardFn backward) const;
  std::array<Tensor, 6> cast_adapters(Torch& t, Node& n, DType dtype) const;
  static void products_backward(Torch& t, Node& n, Grads& g);
  static void mlp_backward(Torch& t, Node& n, Grads& g);

  std::array<const Linear*, 3> members_{};
  int count_ = 0;
  mutable const Facts* facts_ = nullptr;
};

}  // namespace oomplan::estimator
