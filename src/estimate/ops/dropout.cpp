// torch.nn.Dropout in training, or the function.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Dropout final : public Module {
 public:
  Dropout(const Attributes& a, Builder& b) : dropout_(b.dropout()), p_(a.number("p", 0.0)) {}
  void forward(Play& play, Stream& s) const override { s.hidden = (play.torch.*dropout_)(s.hidden, p_); }

 private:
  Builder::Dropout dropout_;
  double p_;
};

}  // namespace

extern const OpType dropout;
const OpType dropout{"dropout", make_module<Dropout>};

}  // namespace oomplan::estimator::ops
