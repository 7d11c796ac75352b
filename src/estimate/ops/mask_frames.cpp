// _mask_hidden_states of Wav2Vec2Model and HubertModel (SpecAugment): some frames of each row are written over with a
// learned one, in place.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class MaskFrames final : public Module {
 public:
  MaskFrames(const Attributes& a, Builder& b) {
    const bool time = a.number("time", 0.0) > 0.0;
    const bool features = a.number("features", 0.0) > 0.0;
    if (time || features) embedding_ = b.weight(a.module(), {a.integer("width")}, Part::embedding);
    masks_ = time && a.flag("augments", true);
    if (features && a.flag("augments", true)) a.unmodelled("masking of features (mask_feature_prob)");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    if (!masks_ || !t.training) return;
    const Dims& sizes = s.hidden->sizes;
    const Tensor where = t.empty({sizes[0], sizes[1]}, DType::boolean, "aten::_to_copy");
    const Tensor frame = t.to(embedding_, s.hidden->dtype);
    NodeRef node = t.record("IndexPutBackward0", {&s.hidden, &frame}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor index = torch.unpack(n, 0);
      if (n.needs(1)) g.out[1] = torch.empty(n.dims, g.in[0]->dtype, "aten::sum");
      if (n.needs(0)) g.out[0] = torch.empty(g.in[0]->sizes, g.in[0]->dtype, "aten::index_put");
    });
    if (node) node->dims = frame->sizes;
    t.save(node, 0, where);
    s.hidden = t.attach(node, s.hidden);
  }

 private:
  bool masks_ = false;
  Tensor embedding_{};
};

}  // namespace

extern const OpType mask_frames;
const OpType mask_frames{"mask_frames", make_module<MaskFrames>};

}  // namespace oomplan::estimator::ops
