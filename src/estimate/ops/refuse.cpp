// What a family's config can switch on (`where`, or `value` that `is` a word) or off (`unless`), or its rows can have
// (`pictured`: images, `told`: marks of which tokens are images'), and no op plays.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Refuse final : public Module {
 public:
  Refuse(const Attributes& a, Builder& b) {
    if (asked(a, b.facts.images)) a.unmodelled(a.text("what", ""));
  }
  void forward(Play&, Stream&) const override {}

 private:
  static bool asked(const Attributes& a, const Images& images) {
    if (a.flag("pictured", false)) return images.count > 0;
    if (a.flag("told", false) && !images.token_types) return false;
    if (a.find("value") != nullptr) return a.text("value", "") == a.text("is", "");
    return a.flag("where", false) || !a.flag("unless", true);
  }
};

}  // namespace

extern const OpType refuse;
const OpType refuse{"refuse", make_module<Refuse>};

}  // namespace oomplan::estimator::ops
