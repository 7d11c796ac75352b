// Gemma3nTextDecoderLayer: attention's output on the copy that was read, with the residual of low rank.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class AddLaurel final : public Module {
 public:
  AddLaurel(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor gated = t.add(s.streams.active, s.hidden);
    s.streams.held.push_back(s.hidden);  // attn
    s.streams.held.push_back(gated);
    s.residual = t.div_scalar(t.add(gated, s.streams.laurel));
    s.hidden = s.residual;
  }
};

}  // namespace

extern const OpType add_laurel;
const OpType add_laurel{"add_laurel", make_module<AddLaurel>};

}  // namespace oomplan::estimator::ops
