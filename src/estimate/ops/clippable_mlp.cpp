// Gemma4VisionMLP.
#include "modules/activation.hpp"
#include "modules/clippable_linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class ClippableMlp final : public Module {
 public:
  ClippableMlp(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "gelu_pytorch_tanh"), b)), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    gate_ = ClippableLinear(a, b, m + "gate_proj", a.integer("width"), a.integer("inner"));
    up_ = ClippableLinear(a, b, m + "up_proj", a.integer("width"), a.integer("inner"));
    down_ = ClippableLinear(a, b, m + "down_proj", a.integer("inner"), a.integer("width"));
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = down_(play, gated(play, s.hidden));
  }

 private:
  Tensor gated(Play& play, const Tensor& x) const {
    const Tensor gate = activation_(play.torch, gate_(play, x));
    return play.torch.mul(gate, up_(play, x));
  }

  Activation activation_;
  std::int32_t module_;
  ClippableLinear gate_{}, up_{}, down_{};
};

}  // namespace

extern const OpType clippable_mlp;
const OpType clippable_mlp{"clippable_mlp", make_module<ClippableMlp>};

}  // namespace oomplan::estimator::ops
