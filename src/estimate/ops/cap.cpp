// TanhSoftCapping: hidden states divided by a number, their tanh, and multiplied again.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Cap final : public Module {
 public:
  Cap(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.hidden = t.div_scalar(s.hidden);
    s.hidden = t.tanh(s.hidden);
    s.hidden = t.mul_scalar(s.hidden);
  }
};

}  // namespace

extern const OpType cap;
const OpType cap{"cap", make_module<Cap>};

}  // namespace oomplan::estimator::ops
