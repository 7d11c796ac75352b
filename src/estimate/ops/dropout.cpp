// torch.nn.Dropout in training.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Dropout final : public Module {
 public:
  Dropout(const Attributes& a, Builder&) : p_(a.number("p", 0.0)) {}
  void forward(Play& play, Stream& s) const override { s.hidden = play.torch.dropout(s.hidden, p_); }

 private:
  double p_;
};

}  // namespace

extern const OpType dropout;
const OpType dropout{"dropout", make_module<Dropout>};

}  // namespace oomplan::estimator::ops
