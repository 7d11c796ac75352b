// torch.nn.Linear as a step of its own, or one that no step calls (`held`).
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class LinearStep final : public Module {
 public:
  LinearStep(const Attributes& a, Builder& b)
      : linear_(b, a.module(), a.integer("width"), a.integer("out"), a.flag("bias", false)),
        held_(a.flag("held", false)) {}
  void forward(Play& play, Stream& s) const override {
    if (!held_) s.hidden = linear_(play, s.hidden);
  }

 private:
  Linear linear_;
  bool held_;
};

}  // namespace

extern const OpType linear;
const OpType linear{"linear", make_module<LinearStep>};

}  // namespace oomplan::estimator::ops
