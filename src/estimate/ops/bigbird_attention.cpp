// BigBirdAttention of rows that are too short for blocks, or of a model that has none: BERT's, whose scores keep their
// name until the function returns.
#include "modules/attention_core.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class BigbirdAttention final : public Module {
 public:
  BigbirdAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        dropout_(a.number("dropout", 0.0)),
        hidden_dropout_(a.number("hidden_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const std::int64_t longest = saturating_mul(5 + 2 * a.integer("random"), a.integer("block"));
    const std::string kind = a.text("kind", "block_sparse");
    const bool sparse = kind == "block_sparse";
    if (!sparse && kind != "original_full") a.unmodelled("attention_type " + kind + ", which transformers refuses,");
    if (sparse && b.facts.length > longest) a.unmodelled("attention of blocks, which longer rows have,");
    if (b.facts.attention != Attention::eager) a.unmodelled("attention other than BigBird's own");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const bool bias = a.flag("bias", true);
    query_ = Linear(b, m + "self.query", width, width, bias);
    key_ = Linear(b, m + "self.key", width, width, bias);
    value_ = Linear(b, m + "self.value", width, width, bias);
    dense_ = Linear(b, m + "output.dense", width, width, true);
    norm_ = LayerNorm(b, m + "output.LayerNorm", width);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor attended = self_attention(play, s, s.hidden);
    Tensor hidden = dense_(play, attended);
    hidden = t.dropout(hidden, hidden_dropout_);
    s.hidden = norm_(play, t.add(hidden, s.hidden));
  }

 private:
  Tensor self_attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor q = heads_of(t, query_(play, x), head_dim_);
    const Tensor k = heads_of(t, key_(play, x), head_dim_);
    const Tensor v = heads_of(t, value_(play, x), head_dim_);
    Tensor scores;
    {
      InBucket bucket(t, Bucket::attention_scores);
      scores = t.matmul(q, t.transpose(k, 2, 3));
      scores = t.div_scalar(scores);
      const Tensor& mask = s.arguments.mask(Span::full);
      if (mask) scores = t.add(scores, mask);
      s.attn_weights = t.softmax_last(scores);  // The block holds on to them as `_`.
      s.attn_weights = t.dropout(s.attn_weights, dropout_);
    }
    Tensor context = t.matmul(s.attn_weights, v);
    context = t.contiguous(t.permute(context, {0, 2, 1, 3}));
    return t.view(context, {x->sizes[0], x->sizes[1], -1});
  }

  std::int64_t head_dim_;
  double dropout_;
  double hidden_dropout_;
  std::int32_t module_;
  Linear query_{}, key_{}, value_{}, dense_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType bigbird_attention;
const OpType bigbird_attention{"bigbird_attention", make_module<BigbirdAttention>};

}  // namespace oomplan::estimator::ops
