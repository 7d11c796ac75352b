// hidden_states = residual + hidden_states, which Granite multiplies by a number first.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class AddResidual final : public Module {
 public:
  AddResidual(const Attributes& a, Builder&) : scaled_(a.flag("scaled", false)) {}
  void forward(Play& play, Stream& s) const override {
    s.hidden = play.torch.add(s.residual, scaled_ ? play.torch.mul_scalar(s.hidden) : s.hidden);
  }

 private:
  bool scaled_;
};

}  // namespace

extern const OpType add_residual;
const OpType add_residual{"add_residual", make_module<AddResidual>};

}  // namespace oomplan::estimator::ops
