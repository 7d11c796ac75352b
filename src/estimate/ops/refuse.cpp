// What a family's config can switch on (`where`) or off (`unless`), and no op plays.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Refuse final : public Module {
 public:
  Refuse(const Attributes& a, Builder&) {
    if (a.flag("where", false) || !a.flag("unless", true)) a.unmodelled(a.text("what", ""));
  }
  void forward(Play&, Stream&) const override {}
};

}  // namespace

extern const OpType refuse;
const OpType refuse{"refuse", make_module<Refuse>};

}  // namespace oomplan::estimator::ops
