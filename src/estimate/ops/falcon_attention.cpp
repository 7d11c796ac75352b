// FalconAttention: one projection, cut into queries and one key and value for all of them, or for each group of them.
// Its mask is always made, and where keys have one head, scaled_dot_product_attention is left with its own arithmetic.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

struct Heads {
  Tensor q{};
  Tensor k{};
  Tensor v{};
};

class FalconAttention final : public Module {
 public:
  FalconAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        head_dim_(a.quotient("width", "heads")),
        groups_(a.flag("grouped", false) ? a.integer("kv_heads") : 0),
        dropout_(a.number("dropout", 0.0)),
        module_(b.module_id(a.module())) {
    if (groups_ == 0 && !a.flag("shared", true)) a.unmodelled("keys and values of each head");
    if (groups_ != 0 && heads_ % groups_ != 0) a.unmodelled("heads that are no multiple of those of keys");
    if (head_dim_ % 2 != 0) a.unmodelled("heads of an odd width");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t keys = groups_ == 0 ? 1 : groups_;
    qkv_ = Linear(b, m + "query_key_value", width, (heads_ + 2 * keys) * head_dim_, false, LinearKind::matmul);
    dense_ = Linear(b, m + "dense", width, width, false, LinearKind::matmul);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Heads split(Torch& t, const Tensor& fused) const {
    const std::int64_t batch = fused->sizes[0];
    const std::int64_t length = fused->sizes[1];
    if (groups_ != 0) return split_groups(t, fused);
    const Tensor qkv = t.view(fused, {batch, length, heads_ + 2, head_dim_});
    return {t.slice(qkv, 2, 0, heads_), t.index_one(qkv, 2), t.index_one(qkv, 2)};
  }

  Heads split_groups(Torch& t, const Tensor& fused) const {
    const std::int64_t each = heads_ / groups_;
    const Dims whole{fused->sizes[0], fused->sizes[1], groups_, each, head_dim_};
    const Dims flat{fused->sizes[0], fused->sizes[1], heads_, head_dim_};
    const Tensor qkv = t.view(fused, {fused->sizes[0], fused->sizes[1], groups_, each + 2, head_dim_});
    const Tensor q = t.slice(qkv, 3, 0, each);
    const Tensor k = t.expand(t.index_one(qkv, 3), whole);
    const Tensor v = t.expand(t.index_one(qkv, 3), whole);
    return {t.reshape(q, flat), t.reshape(k, flat), t.reshape(v, flat)};
  }

  static void to_front(Torch& t, Tensor& x) {
    const Tensor turned = t.transpose(x, 1, 2);
    x = t.reshape(turned, turned->sizes);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor fused = qkv_(play, x);
    Heads h = split(t, fused);
    for (Tensor* part : {&h.q, &h.k, &h.v}) to_front(t, *part);
    rotate(t, Rotary::halves, h.q, h.k, s.arguments.cos[0], s.arguments.sin[0]);
    const Tensor out = attended(play, s, x, h);
    return dense_(play, t.reshape(out, {x->sizes[0], x->sizes[1], -1}));
  }

  /// batch × length × heads × width.
  Tensor attended(Play& play, Stream& s, const Tensor& x, const Heads& h) const {
    Torch& t = play.torch;
    const Attention kernel = play.facts.attention;
    if (kernel == Attention::flash_attention_2) return attend(play, s, h.q, h.k, h.v, {.dropout = dropout_});
    const Tensor& mask = s.arguments.mask(Span::full);
    if (kernel == Attention::sdpa) return t.permute(t.attention(h.q, h.k, h.v, mask, 0.0, false, false), {0, 2, 1, 3});
    InBucket bucket(t, Bucket::attention_scores);
    Tensor scores = t.matmul(h.q, t.transpose(h.k, 2, 3));
    scores = t.div_scalar_(scores);
    scores = t.softmax_last(t.add(scores, mask), x->dtype);
    s.attn_weights = scores;
    return t.permute(t.matmul(scores, h.v), {0, 2, 1, 3});
  }

  std::int64_t heads_;
  std::int64_t head_dim_;
  std::int64_t groups_;  ///< Of the new decoder architecture; 0: one key and value for all.
  double dropout_;       ///< Only flash attention drops any.
  std::int32_t module_;
  Linear qkv_{}, dense_{};
};

}  // namespace

extern const OpType falcon_attention;
const OpType falcon_attention{"falcon_attention", make_module<FalconAttention>};

}  // namespace oomplan::estimator::ops
