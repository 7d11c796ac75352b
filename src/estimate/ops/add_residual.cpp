// hidden_states = residual + hidden_states
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class AddResidual final : public Module {
 public:
  AddResidual(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.add(s.residual, s.hidden); }
};

}  // namespace

extern const OpType add_residual;
const OpType add_residual{"add_residual", make_module<AddResidual>};

}  // namespace oomplan::estimator::ops
