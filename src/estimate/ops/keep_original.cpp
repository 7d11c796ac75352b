// original_hidden_states = torch.clone(inputs_embeds), which some blocks read again.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class KeepOriginal final : public Module {
 public:
  KeepOriginal(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor& x = s.inputs_embeds;
    NodeRef node = t.record("CloneBackward0", {&x}, [](Torch&, Node&, Grads& g) { g.out[0] = g.in[0]; });
    s.arguments.original = t.attach(node, t.empty(x->sizes, x->dtype, "aten::clone"));
  }
};

}  // namespace

extern const OpType keep_original;
const OpType keep_original{"keep_original", make_module<KeepOriginal>};

}  // namespace oomplan::estimator::ops
