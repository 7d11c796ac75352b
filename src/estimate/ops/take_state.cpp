// After a layer of a tower of which several hidden states are made features of: this one is.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class TakeState final : public Module {
 public:
  TakeState(const Attributes&, Builder&) {}
  void forward(Play&, Stream& s) const override { s.taken_states.push_back(s.hidden); }
};

}  // namespace

extern const OpType take_state;
const OpType take_state{"take_state", make_module<TakeState>};

}  // namespace oomplan::estimator::ops
