// A pooler of the first token, which the base model's output has and no head reads: it gets no gradient.
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class UnreadPooler final : public Module {
 public:
  UnreadPooler(const Attributes& a, Builder& b)
      : pooler_(b, a.module(), a.integer("width"), a.integer("width"), true) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.base_output.push_back(t.tanh(pooler_(play, t.select(s.hidden, 1))));
  }

 private:
  Linear pooler_;
};

}  // namespace

extern const OpType unread_pooler;
const OpType unread_pooler{"unread_pooler", make_module<UnreadPooler>};

}  // namespace oomplan::estimator::ops
