// Gemma3nTextLaurelBlock: a residual of low rank beside the attention, which reads the same input.
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class Laurel final : public Module {
 public:
  Laurel(const Attributes& a, Builder& b)
      : left_(b, a.module() + ".linear_left", a.integer("width"), a.integer("rank"), false),
        right_(b, a.module() + ".linear_right", a.integer("rank"), a.integer("width"), false),
        norm_(b, a.module() + ".post_laurel_norm", a.integer("width"), RmsStyle::raised) {}

  void forward(Play& play, Stream& s) const override {
    Tensor hidden = left_(play, s.hidden);
    hidden = right_(play, hidden);
    const Tensor normed = norm_(play, hidden);
    s.streams.laurel = play.torch.add(s.hidden, normed);
    s.streams.held.push_back(s.hidden);  // active_prediction_normed
  }

 private:
  Linear left_, right_;
  RmsNorm norm_;
};

}  // namespace

extern const OpType laurel;
const OpType laurel{"laurel", make_module<Laurel>};

}  // namespace oomplan::estimator::ops
