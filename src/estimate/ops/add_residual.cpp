// hidden_states = residual + hidden_states, which Granite multiplies by a number first, and MiniMax both.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class AddResidual final : public Module {
 public:
  AddResidual(const Attributes& a, Builder&)
      : scaled_(a.flag("scaled", false)), both_scaled_(a.flag("both_scaled", false)) {}
  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor residual = both_scaled_ ? t.mul_scalar(s.residual) : s.residual;
    s.hidden = t.add(residual, scaled_ || both_scaled_ ? t.mul_scalar(s.hidden) : s.hidden);
  }

 private:
  bool scaled_;
  bool both_scaled_;
};

}  // namespace

extern const OpType add_residual;
const OpType add_residual{"add_residual", make_module<AddResidual>, CalledBy::a_line};

}  // namespace oomplan::estimator::ops
