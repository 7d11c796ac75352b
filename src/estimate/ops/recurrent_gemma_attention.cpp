// RecurrentGemmaAttention: within a window, by a rotary embedding that each layer has for itself, of a part of a head.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class RecurrentGemmaAttention final : public Module {
 public:
  RecurrentGemmaAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        turned_(a.integer("turned")),
        kind_{.dropout = a.number("dropout", 0.0), .span = a.span("span")},
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = saturating_mul(a.integer("heads"), head_dim_);
    const std::int64_t kv = q / a.quotient("heads", "kv_heads");
    const bool bias = a.flag("qkv_bias", false);
    q_proj_ = Linear(b, m + "q_proj", width, q, bias);
    k_proj_ = Linear(b, m + "k_proj", width, kv, bias);
    v_proj_ = Linear(b, m + "v_proj", width, kv, bias);
    o_proj_ = Linear(b, m + "o_proj", q, width, true);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    for (Tensor& buffer : frequencies_) buffer = b.torch.empty({turned_ / 2}, DType::fp32, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
    s.hidden = attention(play, s, s.hidden);
  }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Tensor q = heads_of(t, q_proj_(play, x), head_dim_);
    Tensor k = heads_of(t, k_proj_(play, x), head_dim_);
    const Tensor v = heads_of(t, v_proj_(play, x), head_dim_);
    const auto [cos, sin] = positions(t, play.facts.length, v->dtype);
    rotate(t, Rotary::sliced, q, k, cos, sin);
    Tensor out = attend(play, s, q, k, v, kind_);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return o_proj_(play, out);
  }

  /// RecurrentGemmaRotaryEmbedding
  std::array<Tensor, 2> positions(Torch& t, std::int64_t length, DType dtype) const {
    Restore no_grad(t.grad_enabled, false);
    Tensor ids = t.empty({1, length, 1}, DType::fp32, "aten::_to_copy");
    const Tensor freqs = t.empty({1, length, turned_ / 2}, DType::fp32, "aten::mul");
    ids.reset();
    const Tensor emb = t.cat({freqs, freqs}, 2);
    const Tensor cos = t.mul_scalar(t.pointwise({&emb}, DType::fp32, "aten::cos"));
    const Tensor sin = t.mul_scalar(t.pointwise({&emb}, DType::fp32, "aten::sin"));
    Tensor low = t.to(cos, dtype);
    return {std::move(low), t.to(sin, dtype)};
  }

  std::int64_t head_dim_;
  std::int64_t turned_;  ///< Of a head's width, what is rotated.
  AttentionKind kind_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  std::array<Tensor, 2> frequencies_{};
};

}  // namespace

extern const OpType recurrent_gemma_attention;
const OpType recurrent_gemma_attention{"recurrent_gemma_attention", make_module<RecurrentGemmaAttention>};

}  // namespace oomplan::estimator::ops
