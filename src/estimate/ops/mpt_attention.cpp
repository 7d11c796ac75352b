// MptAttention: one projection cut in three, products to which ALiBi is added in fp32, a boolean mask. Eager alone, as
// transformers has it.
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class MptAttention final : public Module {
 public:
  MptAttention(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        head_dim_(a.quotient("width", "heads")),
        dropout_(a.number("dropout", 0.0)),
        module_(b.module_id(a.module())) {
    if (b.facts.attention != Attention::eager) a.unmodelled("kernels of attention other than eager");
    qkv_ = Linear(b, a.module() + ".Wqkv", width_, 3 * width_, false);
    out_ = Linear(b, a.module() + ".out_proj", width_, width_, false);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor heads(Torch& t, const Tensor& x) const {
    return t.transpose(t.reshape(x, {x->sizes[0], x->sizes[1], -1, head_dim_}), 1, 2);
  }

  Tensor weights(Torch& t, Stream& s, const Tensor& q, const Tensor& k, DType dtype) const {
    InBucket bucket(t, Bucket::attention_scores);
    Tensor scores = t.mul_scalar(t.matmul(q, t.transpose(k, 2, 3)));
    const Dims all = s.arguments.bias->sizes;
    const Tensor bias = t.slice(s.arguments.bias, 2, all[2] - k->sizes[2], k->sizes[2]);
    scores = t.add(scores, bias);
    scores = t.masked_fill(scores, s.arguments.mask(Span::full));
    scores = t.to(scores, DType::fp32);
    // Both outlive the product with the values.
    s.attn_weights = t.to(t.softmax_last(scores), dtype);
    s.attn_weights = t.functional_dropout(s.attn_weights, dropout_);
    return scores;
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor mixed = qkv_(play, x);
    const std::vector<Tensor> parts = t.split(mixed, width_, 2);
    const Tensor q = heads(t, parts[0]);
    const Tensor k = heads(t, parts[1]);
    const Tensor v = heads(t, parts[2]);
    const Tensor scores = weights(t, s, q, k, v->dtype);
    Tensor context = t.matmul(s.attn_weights, v);
    context = t.contiguous(t.permute(context, {0, 2, 1, 3}));
    return out_(play, t.view(context, {x->sizes[0], x->sizes[1], -1}));
  }

  std::int64_t width_;
  std::int64_t head_dim_;
  double dropout_;
  std::int32_t module_;
  Linear qkv_{}, out_{};
};

}  // namespace

extern const OpType mpt_attention;
const OpType mpt_attention{"mpt_attention", make_module<MptAttention>};

}  // namespace oomplan::estimator::ops
