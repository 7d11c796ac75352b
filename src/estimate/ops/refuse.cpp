// What a family's config can switch on (`where`, a number `above_zero`, or `value` that `is` a word, or any
// `other_than` that) or off (`unless`), and no op plays.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Refuse final : public Module {
 public:
  Refuse(const Attributes& a, Builder&) {
    if (asked(a)) a.unmodelled(a.text("what", ""));
  }
  void forward(Play&, Stream&) const override {}

 private:
  static bool asked(const Attributes& a) {
    if (a.find("other_than") != nullptr)
      return a.find("value") != nullptr && a.text("value", "") != a.text("other_than", "");
    if (a.find("value") != nullptr) return a.text("value", "") == a.text("is", "");
    if (a.find("above_zero") != nullptr) return a.number("above_zero", 0.0) > 0.0;
    return a.flag("where", false) || !a.flag("unless", true);
  }
};

}  // namespace

extern const OpType refuse;
const OpType refuse{"refuse", make_module<Refuse>};

}  // namespace oomplan::estimator::ops
