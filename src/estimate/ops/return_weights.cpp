// A block that returns (hidden_states, attn_weights): its caller holds both until the next block has returned.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ReturnWeights final : public Module {
 public:
  ReturnWeights(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override { play.torch.beside[0] = s.attn_weights; }
};

}  // namespace

extern const OpType return_weights;
const OpType return_weights{"return_weights", make_module<ReturnWeights>};

}  // namespace oomplan::estimator::ops
