// GptOssAttention: eager attention in which each head has a logit of its own beside the products (`sinks`), that takes
// part in the softmax and is dropped after it. Halves of the heads are turned by cos and sin of half their width.
// MiMoV2FlashAttention: values have heads of another width and are scaled, and layers of full attention have no sinks.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class SinkAttention final : public Module {
 public:
  SinkAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        value_dim_(a.integer("value_width", head_dim_)),
        scales_values_(a.flag("values_scaled", false)),
        renamed_(a.flag("renamed", false)),
        rotary_(a.find("rotary") == nullptr ? Rotary::split : rotary_style(a, "rotary")),
        rotary_span_(static_cast<std::size_t>(a.span("rotary_span"))),
        dropout_(a.number("dropout", 0.0)),
        span_(a.span("span")),
        module_(b.module_id(a.module())) {
    if (b.facts.attention != Attention::eager) a.unmodelled("attention sinks in another attention than eager");
    if (b.facts.lora_qkv_kernel || b.facts.lora_o_kernel) a.unmodelled("fused LoRA kernels");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t heads = a.integer("heads");
    const std::int64_t all = saturating_mul(heads, head_dim_);
    const std::int64_t groups = a.quotient("heads", "kv_heads");
    const std::int64_t of_values = saturating_mul(heads, value_dim_);
    const bool bias = a.flag("bias", true);
    q_proj_ = Linear(b, m + "q_proj", width, all, bias);
    k_proj_ = Linear(b, m + "k_proj", width, all / groups, bias);
    v_proj_ = Linear(b, m + "v_proj", width, of_values / groups, bias);
    o_proj_ = Linear(b, m + "o_proj", of_values, width, a.flag("o_bias", bias));
    if (a.flag("sinks", true)) sinks_ = b.weight(m + "sinks", {heads}, Part::bias);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Dims rows{s.hidden->sizes[0], s.hidden->sizes[1], -1};
    Tensor q = heads_of(t, q_proj_(play, s.hidden), head_dim_);
    Tensor k = heads_of(t, k_proj_(play, s.hidden), head_dim_);
    Tensor v = heads_of(t, v_proj_(play, s.hidden), value_dim_);
    if (scales_values_) v = t.mul_scalar(v);
    rotate(t, rotary_, q, k, s.arguments.cos[rotary_span_], s.arguments.sin[rotary_span_]);
    const Tensor out = attention(t, s, q, k, v);
    s.hidden = o_proj_(play, t.reshape(out, rows));
  }

 private:
  /// x.max(dim=-1, keepdim=True).values; the indices are kept for backward.
  static Tensor highest(Torch& t, const Tensor& x) {
    Dims sizes = x->sizes;
    sizes[3] = 1;
    NodeRef node = t.record("MaxBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor indices = torch.unpack(n, 0);
      g.out[0] = torch.zeros(n.dims, g.in[0]->dtype);  // value_selecting_reduction_backward, scattered in place.
    });
    if (node) node->dims = x->sizes;
    const Tensor values = t.empty(sizes, x->dtype, "aten::max");
    t.save(node, 0, t.empty(sizes, DType::int64, "aten::max"));
    return t.attach(node, values);
  }

  /// The products with the sinks beside them, and what a softmax makes of them, without the sinks.
  Tensor weights(Torch& t, Tensor scores) const {
    const Dims sizes = scores->sizes;
    if (!sinks_) {
      const Tensor lowered = t.sub(scores, highest(t, scores));
      if (renamed_) scores.reset();
      return t.dropout(t.softmax_last(lowered, lowered->dtype), dropout_);
    }
    const Tensor sinks = t.expand(t.reshape(sinks_, {1, -1, 1, 1}), {sizes[0], sizes[1], sizes[2], 1});
    Tensor combined = t.cat({scores, sinks}, 3);
    if (renamed_) scores.reset();
    combined = t.sub(combined, highest(t, combined));
    const Tensor made = t.softmax_last(combined, combined->dtype);
    return t.dropout(t.slice(made, 3, 0, sizes[3]), dropout_);
  }

  Tensor attention(Torch& t, Stream& s, const Tensor& q, const Tensor& k, const Tensor& v) const {
    const std::int64_t times = q->sizes[1] / k->sizes[1];
    const Tensor key = repeat_kv(t, k, times);
    const Tensor value = repeat_kv(t, v, times);
    Tensor made;
    {
      InBucket bucket(t, Bucket::attention_scores);
      made = t.mul_scalar(t.matmul(q, t.transpose(key, 2, 3)));
      if (const Tensor& mask = s.arguments.mask(span_)) made = t.add(made, mask);
      made = t.to(weights(t, renamed_ ? std::move(made) : made), value->dtype);
    }
    Tensor out = t.matmul(made, value);
    out = t.contiguous(t.transpose(out, 1, 2));
    s.attn_weights = std::move(made);
    return out;
  }

  std::int64_t head_dim_;
  std::int64_t value_dim_;
  bool scales_values_;
  bool renamed_;  ///< What is made of the products takes their name.
  Rotary rotary_;
  std::size_t rotary_span_;  ///< Whose cos and sin.
  double dropout_;
  Span span_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  Tensor sinks_{};
};

}  // namespace

extern const OpType sink_attention;
const OpType sink_attention{"sink_attention", make_module<SinkAttention>};

}  // namespace oomplan::estimator::ops
