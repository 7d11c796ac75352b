// T5LayerSelfAttention and T5LayerCrossAttention: norm, attention without scaling but with a bias by distance, dropout
// and the sum. The first block of a stack makes the bias, and all share it; that of cross attention is of zeros. UMT5's
// blocks each make their own (`own_bias`), LongT5's return eager attention's weights beside it.
#include "modules/attention_core.hpp"
#include "modules/distance_buckets.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class T5Attention final : public Module {
 public:
  T5Attention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        head_dim_(a.integer("head_dim")),
        decodes_(a.flag("causal", false)),
        own_bias_(a.flag("own_bias", false)),
        returns_weights_(a.flag("returns_weights", false)),
        dropout_(a.number("dropout", 0.0)),
        kind_{.dropout = dropout_, .causal = decodes_, .softmax = Softmax::as_is, .cross = a.flag("cross", false)},
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + (kind_.cross ? ".EncDecAttention." : ".SelfAttention.");
    const std::int64_t width = a.integer("width");
    const std::int64_t inner = saturating_mul(heads_, head_dim_);
    q_ = Linear(b, m + "q", width, inner, false);
    k_ = Linear(b, m + "k", width, inner, false);
    v_ = Linear(b, m + "v", width, inner, false);
    o_ = Linear(b, m + "o", inner, width, false);
    if (const std::int64_t buckets = a.count("buckets"))
      distances_ = b.embedding(m + "relative_attention_bias", {buckets, heads_});
    norm_ = RmsNorm(b, a.module() + ".layer_norm", width, RmsStyle::t5);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor before = s.attn_weights;  // The block's variable `_`, until this call returns.
    const Tensor normed = norm_(play, s.hidden);
    Tensor out = attention(play, s, normed);
    if (returns_weights_) s.block_weights[kind_.cross ? 1 : 0] = s.attn_weights;
    s.hidden = t.add(s.hidden, t.dropout(out, dropout_));
  }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor& seen = kind_.cross ? s.arguments.encoder : x;
    const Tensor q = heads_of(t, q_(play, x), head_dim_);
    const Tensor k = heads_of(t, k_(play, seen), head_dim_);
    const Tensor v = heads_of(t, v_(play, seen), head_dim_);
    Tensor own;
    Tensor& bias = own_bias_ ? own : kind_.cross ? s.arguments.cross_bias : s.arguments.bias;
    if (!bias) bias = kind_.cross ? no_bias(play, q, k) : bias_of_distances(t, q->sizes[2]);
    AttentionKind kind = kind_;
    kind.bias = &bias;
    Tensor out = attend(play, s, q, k, v, kind);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return o_(play, out);
  }

  Tensor no_bias(Play& play, const Tensor& q, const Tensor& k) const {
    InBucket scores(play.torch, Bucket::attention_scores);
    Tensor zeros = play.torch.zeros({1, heads_, q->sizes[2], k->sizes[2]}, q->dtype);
    zeros->requires_grad = !own_bias_ && play.facts.checkpointing && play.torch.training;
    return zeros;
  }

  /// compute_bias
  Tensor bias_of_distances(Torch& t, std::int64_t length) const {
    InBucket scores(t, Bucket::attention_scores);
    const Dims sizes{length, length};
    const Tensor queries = t.empty({length, 1}, DType::int64, "aten::arange");
    const Tensor keys = t.empty({1, length}, DType::int64, "aten::arange");
    const Tensor distances = t.empty(sizes, DType::int64, "aten::sub");
    const Tensor values = t.embedding(distances_, distance_buckets(t, sizes, decodes_, own_bias_));
    return t.unsqueeze(t.permute(values, {2, 0, 1}), 0);
  }

  std::int64_t heads_;
  std::int64_t head_dim_;
  bool decodes_;
  bool own_bias_;
  bool returns_weights_;
  double dropout_;
  AttentionKind kind_;
  std::int32_t module_;
  Linear q_{}, k_{}, v_{}, o_{};
  Tensor distances_{};
  RmsNorm norm_{};
};

}  // namespace

extern const OpType t5_attention;
const OpType t5_attention{"t5_attention", make_module<T5Attention>};

}  // namespace oomplan::estimator::ops
