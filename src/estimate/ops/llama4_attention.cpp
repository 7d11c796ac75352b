// Llama4TextAttention: turned as complex numbers before heads come first, then normed without a weight; layers that
// turn nothing scale their queries by position. Llama4VisionAttention of `pictures` likewise, without the norms.
#include "modules/attention_core.hpp"
#include "modules/head_projections.hpp"

namespace oomplan::estimator::ops {
namespace {

/// view_as_complex and view_as_real take contiguous gradients.
Tensor as_pairs(Torch& t, const Tensor& x) {
  NodeRef node = t.record("ViewAsRealBackward0", {&x},
                          [](Torch& torch, Node&, Grads& g) { g.out[0] = torch.contiguous(g.in[0]); });
  return t.attach(node, t.view_as(x, x->sizes, x->strides));
}

/// Llama4TextL2Norm
Tensor normed(Torch& t, const Tensor& x) {
  const Tensor raised = t.to(x, DType::fp32);
  const Tensor root = t.rsqrt(t.add_scalar(t.mean_last(t.pow_scalar(raised))));
  return t.to(t.mul(raised, root), x->dtype);
}

class Llama4Attention final : public Module {
 public:
  Llama4Attention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        turned_(a.flag("turned", true)),
        normed_(a.flag("normed", true)),
        by_position_(a.flag("scaled_by_position", false)),
        kind_{.dropout = a.number("dropout", 0.0), .span = a.span("span")},
        module_(b.module_id(a.module())),
        projections_(a, b) {
    if (!a.flag("pictures", false)) return;
    kind_.causal = false;
    kind_.pictures = true;
    kind_.softmax = Softmax::as_is;
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    const Dims heads{x->sizes[0], x->sizes[1], -1, head_dim_};
    Tensor q = t.view(projections_.q(play, x), heads);
    Tensor k = t.view(projections_.k(play, x), heads);
    const Tensor v = t.transpose(t.view(projections_.v(play, x), heads), 1, 2);
    if (turned_) rotate(t, q, k, t.unsqueeze(s.arguments.cos[0], 2));
    if (turned_ && normed_) {
      q = normed(t, q);
      k = normed(t, k);
    }
    if (by_position_ && !turned_) q = scaled(t, q);
    q = t.transpose(q, 1, 2);
    k = t.transpose(k, 1, 2);
    const Tensor out = t.reshape(attend(play, s, q, k, v, kind_), {x->sizes[0], x->sizes[1], -1});
    s.hidden = projections_.o(play, out);
  }

 private:
  static void rotate(Torch& t, Tensor& q, Tensor& k, const Tensor& freqs) {
    const DType dtype = q->dtype;
    const Tensor numbers_of_q = as_pairs(t, t.to(q, DType::fp32));
    const Tensor numbers_of_k = as_pairs(t, t.to(k, DType::fp32));
    const Tensor q_out = as_pairs(t, t.mul(numbers_of_q, freqs));
    const Tensor k_out = as_pairs(t, t.mul(numbers_of_k, freqs));
    Tensor q_turned = t.to(q_out, dtype);
    k = t.to(k_out, dtype);
    q = std::move(q_turned);
  }

  /// (query_states * attn_scales).to(query_states.dtype), by scales in fp32.
  static Tensor scaled(Torch& t, const Tensor& q) {
    const Tensor scales = t.empty({1, q->sizes[1], 1, 1}, DType::fp32, "aten::add");
    return t.to(t.mul(q, t.expand(scales, {q->sizes[0], q->sizes[1], 1, 1})), q->dtype);
  }

  std::int64_t head_dim_;
  bool turned_;
  bool normed_;
  bool by_position_;
  AttentionKind kind_;
  std::int32_t module_;
  HeadProjections projections_;
};

}  // namespace

extern const OpType llama4_attention;
const OpType llama4_attention{"llama4_attention", make_module<Llama4Attention>};

}  // namespace oomplan::estimator::ops
