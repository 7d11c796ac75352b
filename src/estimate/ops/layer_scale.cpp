// A trained factor for each number of a row: lambda * hidden, or hidden * lambda (`second`).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class LayerScale final : public Module {
 public:
  LayerScale(const Attributes& a, Builder& b)
      : second_(a.flag("second", false)), lambda_(b.weight(a.module(), {a.integer("width")}, Part::norm)) {}
  void forward(Play& play, Stream& s) const override {
    s.hidden = second_ ? play.torch.mul(s.hidden, lambda_) : play.torch.mul(lambda_, s.hidden);
  }

 private:
  bool second_;
  Tensor lambda_;
};

}  // namespace

extern const OpType layer_scale;
const OpType layer_scale{"layer_scale", make_module<LayerScale>};

}  // namespace oomplan::estimator::ops
