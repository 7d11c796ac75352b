// avg_pooler of Qwen2AudioEncoder: the mean of each two frames, of which the features stand in the last dimension.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class HalveFrames final : public Module {
 public:
  HalveFrames(const Attributes&, Builder&) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor x = t.permute(s.hidden, {0, 2, 1});
    NodeRef node = t.record("AvgPool2DBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      g.out[0] = torch.empty(torch.unpack(n, 0)->sizes, g.in[0]->dtype, "aten::avg_pool2d_backward");
    });
    t.save(node, 0, x);
    const Dims sizes{x->sizes[0], x->sizes[1], x->sizes[2] / 2};
    s.hidden = t.permute(t.attach(node, t.empty(sizes, x->dtype, "aten::avg_pool2d")), {0, 2, 1});
  }
};

}  // namespace

extern const OpType halve_frames;
const OpType halve_frames{"halve_frames", make_module<HalveFrames>};

}  // namespace oomplan::estimator::ops
