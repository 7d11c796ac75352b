// Gemma3nTextModel.forward before its layers: copies of the embedding, each by a projection of its own.
#include "modules/altup.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class AltUpExpand final : public Module {
 public:
  AltUpExpand(const Attributes& a, Builder& b)
      : projections_(b, a.module() + ".altup_projections", a.integer("width"), a.integer("inputs")) {}

  void forward(Play& play, Stream& s) const override {
    Streams& all = s.streams;
    all.dtype = s.hidden->dtype;
    AltUpProjections::measure(play, all, s.hidden);
    all.parts = {s.hidden};
    for (std::size_t i = 0; i < projections_.count(); ++i) projections_.add(play, all, i, s.inputs_embeds);
    s.hidden = stack_first(play.torch, all.parts);
  }

 private:
  AltUpProjections projections_;
};

}  // namespace

extern const OpType altup_expand;
const OpType altup_expand{"altup_expand", make_module<AltUpExpand>};

}  // namespace oomplan::estimator::ops
