// Phi3MLP and its like: gate and up in one projection, whose output is cut in two.
#include "modules/activation.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class FusedGatedMlp final : public Module {
 public:
  FusedGatedMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "silu"), b)),
        inner_(a.integer("inner")),
        dropout_(a.number("dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const bool bias = a.flag("bias", false);
    gate_up_ = Linear(b, m + a.text("first", "gate_up_proj"), a.integer("width"), 2 * inner_, bias);
    down_ = Linear(b, m + a.text("second", "down_proj"), inner_, a.integer("out", a.integer("width")), bias);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    // Both halves have names until the function returns.
    const std::vector<Tensor> parts = t.split(gate_up_(play, s.hidden), inner_, s.hidden->dim() - 1);
    Tensor gated = t.mul(parts[1], activation_(t, parts[0]));
    gated = t.dropout(gated, dropout_);
    s.hidden = down_(play, gated);
  }

 private:
  Activation activation_;
  std::int64_t inner_;
  double dropout_;
  std::int32_t module_;
  Linear gate_up_{}, down_{};
};

}  // namespace

extern const OpType fused_gated_mlp;
const OpType fused_gated_mlp{"fused_gated_mlp", make_module<FusedGatedMlp>};

}  // namespace oomplan::estimator::ops
