// LlamaAttention and its like: separate q, k, v projections, rotary embedding, grouped key-value heads; Qwen3's norms
// of q and k where `qk_norm` is set.
#include "modules/attention_core.hpp"
#include "modules/liger.hpp"
#include "modules/linear.hpp"
#include "modules/lora_kernels.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

Tensor rotate_half(Torch& t, const Tensor& x) {
  const std::int64_t half = x->sizes.back() / 2;
  const Tensor x1 = t.slice(x, 3, 0, half);
  const Tensor x2 = t.slice(x, 3, half, x->sizes.back() - half);
  return t.cat({t.neg(x2), x1}, 3);
}

/// (x * cos) + (rotate_half(x) * sin); Python lets go of each intermediate as soon as the next is made.
Tensor rotated(Torch& t, const Tensor& x, const Tensor& cos, const Tensor& sin) {
  const Tensor straight = t.mul(x, cos);
  Tensor turned = rotate_half(t, x);
  turned = t.mul(turned, sin);
  return t.add(straight, turned);
}

class RotaryAttention final : public Module {
 public:
  RotaryAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        kind_{.dropout = a.number("dropout", 0.0), .span = a.span("span"), .softcapped = a.find("softcap") != nullptr},
        rotary_(static_cast<std::size_t>(a.span("rotary"))),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = a.integer("heads") * head_dim_;
    const std::int64_t kv = q / a.quotient("heads", "kv_heads");
    q_proj_ = Linear(b, m + "q_proj", width, q, a.flag("qkv_bias", false));
    k_proj_ = Linear(b, m + "k_proj", width, kv, a.flag("qkv_bias", false));
    v_proj_ = Linear(b, m + "v_proj", width, kv, a.flag("qkv_bias", false));
    o_proj_ = Linear(b, m + "o_proj", q, width, a.flag("o_bias", false));
    if (b.facts.lora_qkv_kernel) fused_qkv_ = FusedLora({&q_proj_, &k_proj_, &v_proj_});
    if (b.facts.lora_o_kernel) fused_o_ = FusedLora({&o_proj_});
    if (!a.flag("qk_norm", false)) return;
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_);
    k_norm_ = RmsNorm(b, m + "k_norm", head_dim_);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor heads(Play& play, const RmsNorm& norm, const Tensor& projected) const {
    Torch& t = play.torch;
    const Tensor split = t.view(projected, {projected->sizes[0], projected->sizes[1], -1, head_dim_});
    return t.transpose(norm ? norm(play, split) : split, 1, 2);
  }

  std::array<Tensor, 3> projections(Play& play, const Tensor& x) const {
    if (fused_qkv_.complete()) {
      const std::array<Tensor, 3> qkv = fused_qkv_(play, x);
      return {heads(play, q_norm_, qkv[0]), heads(play, k_norm_, qkv[1]), heads(play, {}, qkv[2])};
    }
    Tensor q = heads(play, q_norm_, q_proj_(play, x));
    Tensor k = heads(play, k_norm_, k_proj_(play, x));
    Tensor v = heads(play, {}, v_proj_(play, x));
    return {std::move(q), std::move(k), std::move(v)};
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    auto [q, k, v] = projections(play, x);
    if (play.facts.liger_rope) {
      liger::rotate(t, q, k, s.arguments.cos[rotary_], s.arguments.sin[rotary_]);
    } else {
      const Tensor cos = t.unsqueeze(s.arguments.cos[rotary_], 1);
      const Tensor sin = t.unsqueeze(s.arguments.sin[rotary_], 1);
      Tensor q_rotated = rotated(t, q, cos, sin);
      Tensor k_rotated = rotated(t, k, cos, sin);
      q = std::move(q_rotated);
      k = std::move(k_rotated);
    }
    const Tensor out = attend(play, s, q, k, v, kind_);
    const Tensor flat = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return fused_o_.complete() ? fused_o_(play, flat)[0] : o_proj_(play, flat);
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  std::size_t rotary_;  ///< Whose cos and sin.
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  RmsNorm q_norm_{}, k_norm_{};
  FusedLora fused_qkv_{}, fused_o_{};
};

}  // namespace

extern const OpType rotary_attention;
const OpType rotary_attention{"rotary_attention", make_module<RotaryAttention>};

}  // namespace oomplan::estimator::ops
