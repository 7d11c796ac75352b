// BloomAttention: one projection cut by heads, products added to ALiBi, and the residual added within. Eager alone, as
// transformers has it.
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class BloomAttention final : public Module {
 public:
  BloomAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        head_dim_(a.quotient("width", "heads")),
        dropout_(a.number("dropout", 0.0)),
        residual_dropout_(a.number("residual_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    if (b.facts.attention != Attention::eager) a.unmodelled("kernels of attention other than eager");
    const std::int64_t width = a.integer("width");
    qkv_ = Linear(b, a.module() + ".query_key_value", width, 3 * width, true);
    dense_ = Linear(b, a.module() + ".dense", width, width, true);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  struct Scores {
    Tensor products{};
    Tensor masked{};
  };

  Tensor heads(Torch& t, const Tensor& qkv) const { return t.transpose(t.select(qkv, 3), 1, 2); }
  Tensor rows(Torch& t, const Tensor& x) const {
    return t.reshape(x, {saturating_mul(x->sizes[0], heads_), -1, head_dim_});
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const std::int64_t length = x->sizes[1];
    const Tensor fused = qkv_(play, x);
    Tensor q, k, v;
    {
      const Tensor qkv = t.view(fused, {x->sizes[0], length, heads_, 3, head_dim_});
      q = heads(t, qkv);
      k = heads(t, qkv);
      v = heads(t, qkv);
    }
    q = rows(t, q);
    k = t.transpose(rows(t, k), 1, 2);
    v = rows(t, v);
    const Scores scores = weights(t, s, q, k);
    return output(play, s, t.bmm(t.view(s.attn_weights, {q->sizes[0], length, -1}), v));
  }

  /// As attn_weights of the stream; what the function holds beside them.
  Scores weights(Torch& t, Stream& s, const Tensor& q, const Tensor& k) const {
    InBucket bucket(t, Bucket::attention_scores);
    Scores out;
    out.products = t.baddbmm(s.arguments.bias, q, k);
    out.masked = t.view(out.products, {q->sizes[0] / heads_, heads_, q->sizes[1], -1});
    if (const Tensor& mask = s.arguments.mask(Span::full)) out.masked = t.add(out.masked, mask);
    s.attn_weights = t.to(t.softmax_last(out.masked, DType::fp32), q->dtype);
    s.attn_weights = t.dropout(s.attn_weights, dropout_);
    return out;
  }

  Tensor output(Play& play, Stream& s, Tensor context) const {
    Torch& t = play.torch;
    const std::int64_t length = context->sizes[1];
    context = t.permute(t.view(context, {-1, heads_, length, head_dim_}), {0, 2, 1, 3});
    context = t.reshape(context, {context->sizes[0], length, -1});
    const Tensor projected = dense_(play, context);
    return t.add(s.residual, t.dropout(projected, residual_dropout_));
  }

  std::int64_t heads_;
  std::int64_t head_dim_;
  double dropout_;
  double residual_dropout_;
  std::int32_t module_;
  Linear qkv_{}, dense_{};
};

}  // namespace

extern const OpType bloom_attention;
const OpType bloom_attention{"bloom_attention", make_module<BloomAttention>};

}  // namespace oomplan::estimator::ops
