// hidden_states.to(self.norm.weight.dtype): the dtype that the model is loaded in.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ToWeights final : public Module {
 public:
  ToWeights(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.to(s.hidden, play.facts.weights); }
};

}  // namespace

extern const OpType to_weights;
const OpType to_weights{"to_weights", make_module<ToWeights>};

}  // namespace oomplan::estimator::ops
