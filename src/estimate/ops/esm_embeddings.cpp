// EsmEmbeddings of rotary models: tokens, of which masked ones are zeroed and the others scaled by how many there are
// (`token_dropout`), normalised where the family does so, and multiplied by the mask.
#include "modules/embedding_hooks.hpp"
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class EsmEmbeddings final : public Module {
 public:
  EsmEmbeddings(const Attributes& a, Builder& b) : drops_tokens_(a.flag("token_dropout", false)) {
    if (a.text("positions", "absolute") != "rotary") a.unmodelled("learned positions of ESM");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    tokens_ = b.embedding(m + "word_embeddings", {a.integer("rows"), width});
    if (a.flag("norm", false)) norm_ = LayerNorm(b, m + "layer_norm", width);
    b.embedding_weight = tokens_;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    position_ids_ = b.torch.empty({1, a.integer("most_positions")}, DType::int64, "buffer");
  }

  /// Collators send a mask, whatever the rows.
  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (!s.attention_mask) s.attention_mask = t.empty({f.batch, f.length}, DType::int64, "batch");
  }

  void forward(Play& play, Stream& s) const override {
    s.inputs_embeds = embed(play, s);  // The model's own name for it, until it returns.
    s.hidden = s.inputs_embeds;
  }

 private:
  Tensor embed(Play& play, const Stream& s) const {
    Torch& t = play.torch;
    const Tensor position_ids = t.empty(s.input_ids->sizes, DType::int64, "aten::add");
    const Tensor inputs_embeds = hooked_tokens(play, t.embedding(tokens_, s.input_ids));
    Tensor embeddings = inputs_embeds;
    if (drops_tokens_) embeddings = scaled(t, s, embeddings);
    if (norm_) embeddings = norm_(play, embeddings);
    return t.mul(embeddings, t.unsqueeze(s.attention_mask, 2));
  }

  /// embeddings * (1 - mask_ratio_train) / (1 - mask_ratio_observed), of which the latter is in fp32.
  static Tensor scaled(Torch& t, const Stream& s, Tensor embeddings) {
    const DType dtype = embeddings->dtype;
    {
      const Tensor masked = t.empty(s.input_ids->sizes, DType::boolean, "aten::eq");
      embeddings = t.masked_fill(embeddings, t.unsqueeze(masked, 2));
    }
    const Tensor observed = t.empty({s.input_ids->sizes[0], 1, 1}, DType::fp32, "aten::rsub");
    Tensor multiple = t.mul_scalar(embeddings);
    multiple = t.div(multiple, observed);
    return t.to(multiple, dtype);
  }

  bool drops_tokens_;
  Tensor tokens_{}, position_ids_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType esm_embeddings;
const OpType esm_embeddings{"esm_embeddings", make_module<EsmEmbeddings>};

}  // namespace oomplan::estimator::ops
