// Axolotl's fused LoRA functions (src/axolotl/kernels/lora.py): LoRA_QKV, LoRA_O and LoRA_MLP in place of peft's
// forward.
//
// They keep no fp32 copy of the input and no product of the adapters of its width; copies of the adapters in the
// input's dtype are saved instead. A 4-bit weight is dequantised for one product at a time.
#pragma once

#include <array>
#include <span>

#include "modules/linear.hpp"

namespace oomplan::estimator {

/// Adapted linear layers of one input, played by one autograd function. Must outlive the graph.
class FusedLora {
 public:
  FusedLora() = default;
  explicit FusedLora(std::initializer_list<const Linear*> members);

  /// All of its layers are adapted; otherwise Axolotl leaves peft's forward in place.
  bool complete() const;

  /// The products of x with each layer.
  std::array<Tensor, 3> operator()(Play& play, const Tensor& x) const;

  /// down(act(gate(x)) * up(x)) of {gate, up, down}: the activation is recomputed in backward, over what was saved.
  Tensor mlp(Play& play, const Tensor& x) const;

 private:
  void ask(Play& play) const;
  NodeRef record(Play& play, const char* name, const Tensor& x, const Tensor& dropped, BackwardFn backward) const;
  void save(Torch& t, const NodeRef& node, const Tensor& x, const Tensor& dropped,
            const std::array<Tensor, 2>& gate_up = {}) const;
  static void products_backward(Torch& t, Node& n, Grads& g);
  static void mlp_backward(Torch& t, Node& n, Grads& g);

  std::array<const Linear*, 3> members_{};
  int count_ = 0;
  mutable const Facts* facts_ = nullptr;
};

}  // namespace oomplan::estimator
