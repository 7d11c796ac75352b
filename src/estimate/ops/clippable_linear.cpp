// Gemma4ClippableLinear as a step of its own.
#include "modules/clippable_linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class ClippableLinearStep final : public Module {
 public:
  ClippableLinearStep(const Attributes& a, Builder& b)
      : linear_(a, b, a.module(), a.integer("width"), a.integer("out")) {}
  void forward(Play& play, Stream& s) const override { s.hidden = linear_(play, s.hidden); }

 private:
  ClippableLinear linear_;
};

}  // namespace

extern const OpType clippable_linear;
const OpType clippable_linear{"clippable_linear", make_module<ClippableLinearStep>};

}  // namespace oomplan::estimator::ops
