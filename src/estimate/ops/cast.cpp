// hidden_states = hidden_states.to(residual.dtype)
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Cast final : public Module {
 public:
  Cast(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.to(s.hidden, s.residual->dtype); }
};

}  // namespace

extern const OpType cast;
const OpType cast{"cast", make_module<Cast>};

}  // namespace oomplan::estimator::ops
