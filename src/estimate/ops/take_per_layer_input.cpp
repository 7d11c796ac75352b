// per_layer_input = per_layer_inputs[:, :, i, :], which a layer is called with.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class TakePerLayerInput final : public Module {
 public:
  TakePerLayerInput(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override {
    s.arguments.per_layer = play.torch.select(s.per_layer_inputs, 2);
  }
};

}  // namespace

extern const OpType take_per_layer_input;
const OpType take_per_layer_input{"take_per_layer_input", make_module<TakePerLayerInput>};

}  // namespace oomplan::estimator::ops
