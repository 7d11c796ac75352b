// A trained factor for each number of a row: lambda * hidden.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class LayerScale final : public Module {
 public:
  LayerScale(const Attributes& a, Builder& b) : lambda_(b.weight(a.module(), {a.integer("width")}, Part::norm)) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.mul(lambda_, s.hidden); }

 private:
  Tensor lambda_;
};

}  // namespace

extern const OpType layer_scale;
const OpType layer_scale{"layer_scale", make_module<LayerScale>};

}  // namespace oomplan::estimator::ops
