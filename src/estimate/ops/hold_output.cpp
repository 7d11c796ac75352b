// What a base model returned, or the features that it returned beside that (`features`): its caller's variable holds it
// until the loss is made.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class HoldOutput final : public Module {
 public:
  HoldOutput(const Attributes& a, Builder&) : features_(a.flag("features", false)) {}
  void forward(Play&, Stream& s) const override { (features_ ? s.normed : s.taken) = s.hidden; }

 private:
  bool features_;
};

}  // namespace

extern const OpType hold_output;
const OpType hold_output{"hold_output", make_module<HoldOutput>};

}  // namespace oomplan::estimator::ops
