// BigBirdEmbeddings: BERT's, which may be scaled, are dropped before they are normalised, and take positions in place.
#include "modules/embedding_hooks.hpp"
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class BigbirdEmbeddings final : public Module {
 public:
  BigbirdEmbeddings(const Attributes& a, Builder& b)
      : scaled_(a.flag("scaled", false)), dropout_(a.number("dropout", 0.0)) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t positions = a.integer("positions");
    tokens_ = b.embedding(m + "word_embeddings", {a.integer("rows"), width});
    positions_ = b.embedding(m + "position_embeddings", {positions, width});
    types_ = b.embedding(m + "token_type_embeddings", {a.integer("types"), width});
    norm_ = LayerNorm(b, m + "LayerNorm", width);
    b.embedding_weight = tokens_;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    for (Tensor& ids : ids_) ids = b.torch.empty({1, positions}, DType::int64, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    s.inputs_embeds = embed(play, s);
    s.hidden = s.inputs_embeds;
  }

 private:
  Tensor embed(Play& play, const Stream& s) const {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    Tensor tokens = hooked_tokens(play, t.embedding(tokens_, s.input_ids));
    if (scaled_) tokens = t.mul_scalar(tokens);
    const Tensor typed = t.embedding(types_, t.expand(t.slice(ids_[1], 1, 0, f.length), {f.batch, f.length}));
    Tensor embeddings = t.add(tokens, typed);
    const Tensor positions = t.embedding(positions_, t.slice(ids_[0], 1, 0, f.length));
    embeddings = t.add_(embeddings, positions);
    embeddings = t.dropout(embeddings, dropout_);
    return norm_(play, embeddings);
  }

  bool scaled_;
  double dropout_;
  Tensor tokens_{}, positions_{}, types_{};
  std::array<Tensor, 2> ids_{};  ///< Of positions, and of types.
  LayerNorm norm_{};
};

}  // namespace

extern const OpType bigbird_embeddings;
const OpType bigbird_embeddings{"bigbird_embeddings", make_module<BigbirdEmbeddings>};

}  // namespace oomplan::estimator::ops
