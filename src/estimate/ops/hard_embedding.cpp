// Gemma3nModel.forward before its language model: of every token, whether it is one of a medium's own vocabulary, and
// the embedding that it has there, which is made of all tokens, be there such or not (Gemma3nMultimodalEmbedder).
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class HardEmbedding final : public Module {
 public:
  HardEmbedding(const Attributes& a, Builder& b)
      : first_(a.flag("first", false)),
        weight_(b.embedding(a.module() + ".embedding", {a.integer("rows"), a.integer("width")})),
        hard_norm_(b, a.module() + ".hard_embedding_norm", a.integer("width"), RmsStyle::raised),
        soft_norm_(b, a.module() + ".soft_embedding_norm", a.integer("width"), RmsStyle::raised),
        projection_(b, a.module() + ".embedding_projection", a.integer("width"), a.integer("out"), false),
        post_norm_(RmsNorm::unscaled(b, a.module() + ".embedding_post_projection_norm")) {
    if (first_ && b.facts.images.count > 0) a.unmodelled("what Gemma 3n's tower, a network of timm's, makes of images");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Dims sizes = s.input_ids->sizes;
    if (first_) {  // per_layer_inputs_mask and _tokens
      keep(s, t.empty(sizes, DType::boolean, "aten::logical_and"));
      keep(s, t.empty(sizes, DType::int64, "aten::where"));
    }
    const Tensor mask = t.empty(sizes, DType::boolean, "aten::logical_and");
    const Tensor ids = t.empty(sizes, DType::int64, "aten::where");
    const Tensor embeds = t.to(embed(play, ids), s.inputs_embeds->dtype);
    for (const Tensor& one : {mask, ids, embeds}) keep(s, one);
    s.seen.mask = t.unsqueeze(mask, 2);
    s.inputs_embeds = t.where(s.seen.mask, embeds, s.inputs_embeds);
    s.hidden = s.inputs_embeds;
  }

 private:
  static void keep(Stream& s, const Tensor& variable) { s.seen.kept.push_back(variable); }

  Tensor embed(Play& play, const Tensor& ids) const {
    Torch& t = play.torch;
    const Tensor shifted = t.empty(ids->sizes, DType::int64, "aten::sub");
    const Tensor hard = t.embedding(weight_, shifted);
    const Tensor normed = hard_norm_(play, hard);
    const Tensor projected = projection_(play, normed);
    return post_norm_(play, projected);
  }

  bool first_;
  Tensor weight_;
  RmsNorm hard_norm_, soft_norm_;
  Linear projection_;
  RmsNorm post_norm_;
};

}  // namespace

extern const OpType hard_embedding;
const OpType hard_embedding{"hard_embedding", make_module<HardEmbedding>};

}  // namespace oomplan::estimator::ops
