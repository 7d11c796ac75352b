// DebertaV2Embeddings: tokens, with positions and types where the config has them, normalised, and multiplied by the
// mask, which is one of ones where the caller sent none.
#include "modules/embedding_hooks.hpp"
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class DebertaEmbeddings final : public Module {
 public:
  DebertaEmbeddings(const Attributes& a, Builder& b)
      : dropout_(a.number("dropout", 0.0)), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t positions = a.integer("positions");
    tokens_ = b.embedding(m + "word_embeddings", {a.integer("rows"), width});
    b.embedding_weight = tokens_;
    if (a.flag("position_biased", true)) positions_ = b.embedding(m + "position_embeddings", {positions, width});
    if (const std::int64_t types = a.count("types")) types_ = b.embedding(m + "token_type_embeddings", {types, width});
    norm_ = LayerNorm(b, m + "LayerNorm", width);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    position_ids_ = b.torch.empty({1, positions}, DType::int64, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    // The model's own variable: the ids of types, none of which were sent.
    s.position_ids = t.zeros(s.input_ids->sizes, DType::int64);
    s.hidden = embed(play, s);
  }

 private:
  Tensor embed(Play& play, const Stream& s) const {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    const Tensor inputs = hooked_tokens(play, t.embedding(tokens_, s.input_ids));
    const Tensor positions = positions_ ? t.embedding(positions_, t.slice(position_ids_, 1, 0, f.length))
                                        : t.zeros(inputs->sizes, inputs->dtype);
    Tensor embeddings = inputs;
    if (positions_) embeddings = t.add(embeddings, positions);
    Tensor types;
    if (types_) types = t.embedding(types_, s.position_ids);
    if (types_) embeddings = t.add(embeddings, types);
    embeddings = norm_(play, embeddings);
    const Tensor mask = t.empty({f.batch, f.length, 1}, embeddings->dtype, "aten::_to_copy");
    embeddings = t.mul(embeddings, mask);
    return t.dropout(embeddings, dropout_);
  }

  double dropout_;
  std::int32_t module_;
  Tensor tokens_{}, positions_{}, types_{}, position_ids_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType deberta_embeddings;
const OpType deberta_embeddings{"deberta_embeddings", make_module<DebertaEmbeddings>};

}  // namespace oomplan::estimator::ops
