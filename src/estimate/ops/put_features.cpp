// inputs_embeds.index_put(positions, features) of Phi-4 multimodal: features in place of the tokens that stand for
// them, whose places are counted; then the function returns that made them. Where rows have pictures and sounds, both
// go into the embeddings as these were (`waits`: the first do), and are put together by where pictures are.
#include "modules/hd_crops.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class PutFeatures final : public Module {
 public:
  PutFeatures(const Attributes& a, Builder& b) : waits_(a.flag("waits", false) && b.facts.sounds.count > 0) {
    const Images& i = b.facts.images;
    if (i.count == 0) return;
    if (a.flag("heard", false)) {
      joins_ = b.media_tokens > 0;
      check_room(b, saturating_mul(i.count, i.tokens));
      return;
    }
    const HdCrops crops = hd_crops({a.integer("image_size"), a.integer("patch_size")}, i.height, i.width);
    check_room(b, saturating_mul(i.count, crops.tokens()));
  }

  void forward(Play& play, Stream& s) const override {
    if (play.facts.images.count == 0) return;
    Torch& t = play.torch;
    const Tensor features = t.to(s.seen.features, s.inputs_embeds->dtype);
    const Tensor places = t.empty({features->sizes[0], 2}, DType::int64, "aten::nonzero");
    const Tensor embeds = put(t, s.inputs_embeds, places, features);
    const Tensor pictures = joins_ ? s.seen.kept.front() : Tensor{};
    s.seen = {};
    if (waits_) return s.seen.kept.push_back(embeds);
    s.inputs_embeds = joins_ ? joined(t, s, pictures, embeds) : embeds;
    s.hidden = s.inputs_embeds;
  }

 private:
  /// Phi4MultimodalFeatureEmbedding.forward, of both.
  static Tensor joined(Torch& t, const Stream& s, const Tensor& pictures, const Tensor& sounds) {
    const Tensor of_pictures = t.unsqueeze(t.empty(s.input_ids->sizes, DType::boolean, "aten::eq"), 2);
    const Tensor of_others = t.empty(of_pictures->sizes, DType::boolean, "aten::bitwise_not");
    return t.add(t.mul(pictures, of_pictures), t.mul(sounds, of_others));
  }

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

  bool waits_;          ///< Sounds come next, which are put into the same embeddings.
  bool joins_ = false;  ///< Pictures came before.
};

}  // namespace

extern const OpType put_features;
const OpType put_features{"put_features", make_module<PutFeatures>};

}  // namespace oomplan::estimator::ops
