// CodeGenAttention: one projection of which each of four parts has its queries, values and keys; a part of each head
// turned by pairs in fp32 before heads come to the front, products in fp32. Eager alone: transformers has no sdpa for
// it.
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::int64_t mp_num = 4;

class CodegenAttention final : public Module {
 public:
  CodegenAttention(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        head_dim_(a.quotient("width", "heads")),
        turned_(a.integer("rotary")),
        dropout_(a.number("dropout", 0.0)),
        residual_dropout_(a.number("residual_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    if (turned_ > head_dim_) a.unmodelled("heads narrower than what is turned");
    if (a.integer("heads") % mp_num != 0) a.unmodelled("heads that are no multiple of 4");
    if (b.facts.attention != Attention::eager) a.unmodelled("kernels of attention other than eager");
    const std::string m = a.module() + ".";
    qkv_ = Linear(b, m + "qkv_proj", width_, saturating_mul(3, width_), false);
    out_ = Linear(b, m + "out_proj", width_, width_, false);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    positions_ = b.torch.empty({a.integer("positions"), turned_}, DType::fp32, "buffer");
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor turned(Torch& t, const Tensor& x) const {
    const Dims wide{1, x->sizes[1], 1, turned_};
    const Tensor sin = t.empty(wide, DType::fp32, "aten::clone");
    const Tensor cos = t.empty(wide, DType::fp32, "aten::clone");
    return turned_by_pairs(t, x, cos, sin);
  }

  Tensor heads(Torch& t, const Tensor& x) const {
    const Dims& s = x->sizes;
    return t.reshape(t.reshape(x, {s[0], s[1], mp_num, -1, head_dim_}), {s[0], s[1], -1, head_dim_});
  }

  Tensor attend(Torch& t, Stream& s, const Tensor& query, const Tensor& key, const Tensor& value) const {
    InBucket scores(t, Bucket::attention_scores);
    const Tensor q = t.to(query, DType::fp32);
    const Tensor k = t.to(key, DType::fp32);
    Tensor weights = t.matmul(q, t.transpose(k, 2, 3));
    if (const Tensor& mask = s.arguments.mask(Span::full)) weights = t.add(weights, mask);
    weights = t.div_scalar(weights);
    weights = t.softmax_last(weights);
    weights = t.to(weights, value->dtype);
    weights = t.dropout(weights, dropout_);
    Tensor out = t.matmul(weights, value);
    s.attn_weights = std::move(weights);
    return out;
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor qkv = qkv_(play, x);
    const Tensor parts = t.view(qkv, {x->sizes[0], x->sizes[1], mp_num, -1});
    const std::vector<Tensor> split = t.split(parts, width_ / mp_num, 3);
    Tensor q = heads(t, split[0]);
    Tensor k = heads(t, split[2]);
    const Tensor v = t.permute(heads(t, split[1]), {0, 2, 1, 3});
    const Tensor sincos = t.empty({1, x->sizes[1], turned_}, DType::fp32, "aten::index");
    Tensor k_turned = t.slice(k, 3, 0, turned_);
    const Tensor k_pass = t.slice(k, 3, turned_, head_dim_ - turned_);
    Tensor q_turned = t.slice(q, 3, 0, turned_);
    const Tensor q_pass = t.slice(q, 3, turned_, head_dim_ - turned_);
    k_turned = turned(t, k_turned);
    q_turned = turned(t, q_turned);
    k = t.cat({k_turned, k_pass}, 3);
    q = t.cat({q_turned, q_pass}, 3);
    k = t.permute(k, {0, 2, 1, 3});
    q = t.permute(q, {0, 2, 1, 3});
    Tensor out = attend(t, s, q, k, v);
    out = t.contiguous(t.permute(out, {0, 2, 1, 3}));
    out = out_(play, t.view(out, {x->sizes[0], x->sizes[1], -1}));
    return t.dropout(out, residual_dropout_);
  }

  std::int64_t width_;
  std::int64_t head_dim_;
  std::int64_t turned_;  ///< Of a head's width.
  double dropout_;
  double residual_dropout_;
  std::int32_t module_;
  Linear qkv_{}, out_{};
  Tensor positions_{};
};

}  // namespace

extern const OpType codegen_attention;
const OpType codegen_attention{"codegen_attention", make_module<CodegenAttention>};

}  // namespace oomplan::estimator::ops
