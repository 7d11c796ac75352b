// An activation as a step of its own.
#include "modules/activation.hpp"

namespace oomplan::estimator::ops {
namespace {

class Activate final : public Module {
 public:
  Activate(const Attributes& a, Builder& b) : activation_(find_activation(a.text("activation", "gelu"), b)) {}
  void forward(Play& play, Stream& s) const override { s.hidden = activation_(play.torch, s.hidden); }

 private:
  Activation activation_;
};

}  // namespace

extern const OpType activate;
const OpType activate{"activate", make_module<Activate>};

}  // namespace oomplan::estimator::ops
