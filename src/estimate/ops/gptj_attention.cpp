// GPTJAttention: positions looked up in a table of each layer, a part of each head turned by pairs before heads come to
// the front, products in fp32. Eager alone: transformers has no sdpa for it.
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class GptjAttention final : public Module {
 public:
  GptjAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        turned_(a.integer("rotary", 0)),
        dropout_(a.number("dropout", 0.0)),
        residual_dropout_(a.number("residual_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    if (turned_ == 0 || turned_ > head_dim_) a.unmodelled("heads turned whole");
    if (b.facts.attention != Attention::eager) a.unmodelled("kernels of attention other than eager");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    k_proj_ = Linear(b, m + "k_proj", width, width, false);
    v_proj_ = Linear(b, m + "v_proj", width, width, false);
    q_proj_ = Linear(b, m + "q_proj", width, width, false);
    out_proj_ = Linear(b, m + "out_proj", width, width, false);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    positions_ = b.torch.empty({a.integer("positions"), turned_}, DType::fp32, "buffer");
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  struct Table {
    Tensor all{};
    Tensor rows{};
    Tensor sincos{};
  };

  /// sin and cos of every position, in the keys' dtype; what the function holds beside them.
  Table table(Torch& t, const Tensor& key) const {
    Restore no_grad(t.grad_enabled, false);
    Table out;
    out.all = t.empty({1, positions_->sizes[0], turned_}, DType::fp32, "aten::repeat");
    out.rows = t.empty({1, key->sizes[1], turned_}, DType::int64, "aten::repeat");
    out.sincos = t.to(t.empty(out.rows->sizes, DType::fp32, "aten::gather"), key->dtype);
    return out;
  }

  Tensor turned(Torch& t, const Tensor& x, const Tensor& sincos) const {
    const Dims wide{1, sincos->sizes[1], 1, turned_};
    const Tensor sin = t.empty(wide, sincos->dtype, "aten::clone");
    const Tensor cos = t.empty(wide, sincos->dtype, "aten::clone");
    return turned_by_pairs(t, x, cos, sin);
  }

  void turn(Torch& t, Tensor& query, Tensor& key, const Tensor& sincos) const {
    const std::int64_t rest = head_dim_ - turned_;
    Tensor k = t.slice(key, 3, 0, turned_);
    const Tensor k_pass = t.slice(key, 3, turned_, rest);
    Tensor q = t.slice(query, 3, 0, turned_);
    const Tensor q_pass = t.slice(query, 3, turned_, rest);
    k = turned(t, k, sincos);
    q = turned(t, q, sincos);
    key = t.cat({k, k_pass}, 3);
    query = t.cat({q, q_pass}, 3);
  }

  Tensor heads(Torch& t, const Tensor& x) const { return t.view(x, {x->sizes[0], x->sizes[1], -1, head_dim_}); }

  Tensor attend(Torch& t, Stream& s, const Tensor& query, const Tensor& key, const Tensor& value) const {
    Restore bucket(t.recorder.scope.bucket, Bucket::attention_scores);
    const Tensor q = t.to(query, DType::fp32);
    const Tensor k = t.to(key, DType::fp32);
    Tensor weights = t.matmul(q, t.transpose(k, 2, 3));
    weights = t.div_scalar(weights);
    if (const Tensor& mask = s.arguments.mask(Span::full)) weights = t.add(weights, mask);
    weights = t.softmax_last(weights);
    weights = t.to(weights, value->dtype);
    s.attn_weights = t.dropout(weights, dropout_);
    weights.reset();
    return t.matmul(s.attn_weights, value);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor q = q_proj_(play, x);
    Tensor k = k_proj_(play, x);
    Tensor v = v_proj_(play, x);
    q = heads(t, q);
    k = heads(t, k);
    v = t.permute(heads(t, v), {0, 2, 1, 3});
    const Table positions = table(t, k);
    turn(t, q, k, positions.sincos);
    k = t.permute(k, {0, 2, 1, 3});
    q = t.permute(q, {0, 2, 1, 3});
    Tensor out = attend(t, s, q, k, v);
    out = t.contiguous(t.permute(out, {0, 2, 1, 3}));
    out = out_proj_(play, t.view(out, {x->sizes[0], x->sizes[1], -1}));
    return t.dropout(out, residual_dropout_);
  }

  std::int64_t head_dim_;
  std::int64_t turned_;
  double dropout_;
  double residual_dropout_;
  std::int32_t module_;
  Linear k_proj_{}, v_proj_{}, q_proj_{}, out_proj_{};
  Tensor positions_{};
};

}  // namespace

extern const OpType gptj_attention;
const OpType gptj_attention{"gptj_attention", make_module<GptjAttention>};

}  // namespace oomplan::estimator::ops
