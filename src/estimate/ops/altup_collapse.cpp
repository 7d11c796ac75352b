// Gemma3nTextModel.forward after its layers: the mean of the copies, of which all but the first are projected back.
#include "modules/altup.hpp"
#include "torch/reductions.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class AltUpCollapse final : public Module {
 public:
  AltUpCollapse(const Attributes& a, Builder& b)
      : projections_(b, a.module() + ".altup_unembed_projections", a.integer("width"), a.integer("inputs")) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Streams& all = s.streams;
    AltUpProjections::measure(play, all, t.select(s.hidden, 0));
    all.parts = {t.select(s.hidden, 0)};
    for (std::size_t i = 0; i < projections_.count(); ++i) projections_.add(play, all, i, t.select(s.hidden, 0));
    s.hidden = stack_first(t, all.parts);
    s.hidden = mean_first(t, s.hidden);
  }

 private:
  AltUpProjections projections_;
};

}  // namespace

extern const OpType altup_collapse;
const OpType altup_collapse{"altup_collapse", make_module<AltUpCollapse>};

}  // namespace oomplan::estimator::ops
