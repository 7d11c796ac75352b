// hidden_states = hidden_states * a number of the config.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Scale final : public Module {
 public:
  Scale(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.mul_scalar(s.hidden); }
};

}  // namespace

extern const OpType scale;
const OpType scale{"scale", make_module<Scale>};

}  // namespace oomplan::estimator::ops
