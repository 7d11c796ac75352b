// inputs_embeds.index_put(positions, features) of Phi-4 multimodal: features in place of the tokens that stand for
// them, whose places are counted; then the function returns that made them.
#include "modules/hd_crops.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class PutFeatures final : public Module {
 public:
  PutFeatures(const Attributes& a, Builder& b) {
    const Images& i = b.facts.images;
    if (i.count == 0) return;
    const HdCrops crops = hd_crops({a.integer("image_size"), a.integer("patch_size")}, i.height, i.width);
    check_room(b, saturating_mul(i.count, crops.tokens()));
  }

  void forward(Play& play, Stream& s) const override {
    if (play.facts.images.count == 0) return;
    Torch& t = play.torch;
    const Tensor features = t.to(s.seen.features, s.inputs_embeds->dtype);
    const Tensor places = t.empty({features->sizes[0], 2}, DType::int64, "aten::nonzero");
    s.inputs_embeds = put(t, s.inputs_embeds, places, features);
    s.hidden = s.inputs_embeds;
    s.seen = {};
  }

 private:
  // derivatives.yaml: index_put, which is given zeros in place of the features.
  static Tensor put(Torch& t, const Tensor& into, const Tensor& places, const Tensor& features) {
    NodeRef node = t.record("IndexPutBackward0", {&into, &features}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor where = torch.unpack(n, 0);
      if (n.needs(0)) {
        const Tensor zeros = torch.zeros(n.dims, g.in[0]->dtype);
        g.out[0] = torch.empty(g.in[0]->sizes, g.in[0]->dtype, "aten::clone");
      }
      if (n.needs(1)) g.out[1] = torch.empty(n.dims, g.in[0]->dtype, "aten::index");
    });
    if (node) node->dims = features->sizes;
    t.save(node, 0, places);
    return t.attach(node, t.empty(into->sizes, into->dtype, "aten::clone"));
  }
};

}  // namespace

extern const OpType put_features;
const OpType put_features{"put_features", make_module<PutFeatures>};

}  // namespace oomplan::estimator::ops
