// BertEmbeddings and RobertaEmbeddings: tokens, types and positions, normalised. RoBERTa counts positions from the
// tokens (`positions_from_tokens`), so that each row has its own; MPNet does too, and has no types. ERNIE may add what
// a task has. NomicBERT turns its heads, and has no learned positions (`learned: false`).
#include "modules/embedding_hooks.hpp"
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class EncoderEmbeddings final : public Module {
 public:
  EncoderEmbeddings(const Attributes& a, Builder& b)
      : from_tokens_(a.flag("positions_from_tokens", false)),
        learned_(a.flag("learned", true)),
        dropout_(a.number("dropout", 0.0)) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t positions = a.integer("positions");
    tokens_ = b.embedding(m + "word_embeddings", {a.integer("rows"), width});
    // RoBERTa defines its positions last, which is the order that an optimizer goes through.
    if (!from_tokens_ && learned_) positions_ = b.embedding(m + "position_embeddings", {positions, width});
    const std::int64_t types = a.count("types");
    if (types != 0) types_ = b.embedding(m + "token_type_embeddings", {types, width});
    norm_ = LayerNorm(b, m + "LayerNorm", width);
    if (from_tokens_) positions_ = b.embedding(m + "position_embeddings", {positions, width});
    if (a.flag("has_tasks", false)) tasks_ = b.embedding(m + "task_type_embeddings", {a.integer("tasks"), width});
    b.embedding_weight = tokens_;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    position_ids_ = b.torch.empty({1, positions}, DType::int64, "buffer");
    if (types != 0) type_ids_ = b.torch.empty({1, positions}, DType::int64, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    s.inputs_embeds = embed(play, s);  // The model's own name for it, until it returns.
    s.hidden = s.inputs_embeds;
  }

 private:
  Tensor embed(Play& play, const Stream& s) const {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    if (!learned_) return without_positions(play, s);
    const Tensor position_ids =
        from_tokens_ ? t.empty({f.batch, f.length}, DType::int64, "aten::add") : t.slice(position_ids_, 1, 0, f.length);
    Tensor types;
    if (types_) types = t.expand(t.empty(position_ids->sizes, DType::int64, "aten::gather"), {f.batch, f.length});
    const Tensor tokens = hooked_tokens(play, t.embedding(tokens_, s.input_ids));
    Tensor embeddings = tokens;
    Tensor typed;
    if (types_) {
      typed = t.embedding(types_, types);
      embeddings = t.add(tokens, typed);
    }
    const Tensor positions = t.embedding(positions_, position_ids);
    embeddings = t.add(embeddings, positions);
    Tensor of_tasks;
    if (tasks_) {
      of_tasks = t.embedding(tasks_, t.zeros({f.batch, f.length}, DType::int64));
      embeddings = t.add_(embeddings, of_tasks);
    }
    embeddings = norm_(play, embeddings);
    return t.dropout(embeddings, dropout_);
  }

  /// NomicBertEmbeddings.forward, given no types.
  Tensor without_positions(Play& play, const Stream& s) const {
    Torch& t = play.torch;
    Tensor embeddings = hooked_tokens(play, t.embedding(tokens_, s.input_ids));
    const Tensor typed = t.embedding(types_, t.zeros(s.input_ids->sizes, DType::int64));
    embeddings = t.add(embeddings, typed);
    embeddings = norm_(play, embeddings);
    return t.dropout(embeddings, dropout_);
  }

  bool from_tokens_;
  bool learned_;
  double dropout_;
  Tensor tokens_{}, positions_{}, types_{}, tasks_{}, position_ids_{}, type_ids_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType encoder_embeddings;
const OpType encoder_embeddings{"encoder_embeddings", make_module<EncoderEmbeddings>};

}  // namespace oomplan::estimator::ops
