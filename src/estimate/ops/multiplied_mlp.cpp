// FalconH1MLP: up(x) * act(gate(x) * a number), projected down and multiplied by another.
#include "modules/activation.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class MultipliedMlp final : public Module {
 public:
  MultipliedMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "silu"), b)), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = a.integer("inner");
    const bool bias = a.flag("bias", false);
    gate_ = Linear(b, m + "gate_proj", width, inner, bias);
    up_ = Linear(b, m + "up_proj", width, inner, bias);
    down_ = Linear(b, m + "down_proj", inner, width, bias);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor y = gated(play, s.hidden);
    y = t.mul_scalar(down_(play, y));
    s.hidden = y;
  }

 private:
  Tensor gated(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor up = up_(play, x);
    const Tensor gate = activation_(t, t.mul_scalar(gate_(play, x)));
    return t.mul(up, gate);
  }

  Activation activation_;
  std::int32_t module_;
  Linear gate_{}, up_{}, down_{};
};

}  // namespace

extern const OpType multiplied_mlp;
const OpType multiplied_mlp{"multiplied_mlp", make_module<MultipliedMlp>};

}  // namespace oomplan::estimator::ops
