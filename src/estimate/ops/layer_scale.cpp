// A trained factor for each number of a row: lambda * hidden, or hidden * lambda (`second`). Mllama's is the tanh of
// one number (`gate`).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class LayerScale final : public Module {
 public:
  LayerScale(const Attributes& a, Builder& b)
      : second_(a.flag("second", false)),
        gate_(a.flag("gate", false)),
        lambda_(b.weight(a.module(), {a.integer("width")}, Part::norm)) {}
  void forward(Play& play, Stream& s) const override {
    const Tensor factor = gate_ ? play.torch.tanh(lambda_) : lambda_;
    s.hidden = second_ ? play.torch.mul(s.hidden, factor) : play.torch.mul(factor, s.hidden);
  }

 private:
  bool second_;
  bool gate_;
  Tensor lambda_;
};

}  // namespace

extern const OpType layer_scale;
const OpType layer_scale{"layer_scale", make_module<LayerScale>};

}  // namespace oomplan::estimator::ops
