// LlamaMLP and its like: down(act(gate(x)) * up(x)), of which BitNet norms the product (`inner_norm`).
#include "modules/activation.hpp"
#include "modules/liger.hpp"
#include "modules/linear.hpp"
#include "modules/lora_kernels.hpp"
#include "modules/rms_norm.hpp"
#include "modules/tensor_parallel.hpp"
#include "modules/unsloth_layers.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class GatedMlp final : public Module {
 public:
  GatedMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "silu"), b)),
        named_(a.flag("named", false)),
        gate_named_(a.flag("gate_named", false)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const bool bias = a.flag("bias", false);
    gate_ = Linear::columns(b, m + a.text("gate", "gate_proj"), a.integer("width"), a.integer("inner"), bias);
    up_ = Linear::columns(b, m + a.text("up", "up_proj"), a.integer("width"), a.integer("inner"), bias);
    down_ = Linear::rows(b, m + a.text("down", "down_proj"), a.integer("inner"), a.integer("width"), bias);
    if (a.find("inner_norm") != nullptr) {
      inner_norm_ = RmsNorm(b, m + a.text("inner_norm", ""), a.integer("inner"));
      if (b.facts.lora_mlp_kernel) a.unmodelled("fused LoRA kernels over an MLP with a norm inside");
      return;
    }
    if (b.facts.lora_mlp_kernel && !is_in_tower(b)) fused_ = FusedLora({&gate_, &up_, &down_});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    if (inner_norm_) {
      Tensor inner = gated(play, s.hidden);
      inner = inner_norm_(play, inner);
      s.hidden = down_(play, inner);
    } else if (named_) {
      s.hidden = of_names(play, s.hidden);
    } else if (gate_named_ && !fused_.complete()) {
      const Tensor gate = activation_(t, gate_(play, s.hidden));
      const Tensor product = t.mul(gate, up_(play, s.hidden));
      s.hidden = down_(play, product);
    } else {
      s.hidden = fused_.complete() ? fused_.mlp(play, s.hidden) : down_(play, gated(play, whole_rows(play, s.hidden)));
    }
  }

 private:
  Tensor gated(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    if (play.facts.liger_glu) {
      const Tensor gate = gate_(play, x);
      return liger::gated(t, gate, up_(play, x));
    }
    Tensor gate = gate_(play, x);
    play.policy.enter_bare(t);
    gate = activation_(t, gate);
    return t.mul(gate, up_(play, x));
  }

  /// litgpt's LLaMAMLP: both products are made first.
  Tensor of_names(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor gate = gate_(play, x);
    const Tensor up = up_(play, x);
    const Tensor inner = t.mul(activation_(t, gate), up);
    return down_(play, inner);
  }

  Activation activation_;
  bool named_;       ///< The products of gate and up have names until the method returns.
  bool gate_named_;  ///< What is activated has one, as RecurrentGemma's.
  std::int32_t module_;
  Linear gate_{}, up_{}, down_{};
  RmsNorm inner_norm_{};
  FusedLora fused_{};
};

std::unique_ptr<Module> make_mlp(const Attributes& attributes, Builder& builder) {
  return builder.facts.unsloth ? make_unsloth_mlp(attributes, builder) : make_module<GatedMlp>(attributes, builder);
}

}  // namespace

extern const OpType gated_mlp;
const OpType gated_mlp{"gated_mlp", make_mlp, CalledBy::position};

}  // namespace oomplan::estimator::ops
