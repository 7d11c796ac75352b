// LlamaAttention and its like: separate q, k, v projections, rotary embedding, grouped key-value heads; Qwen3's norms
// of q and k where `qk_norm` is set.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
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
      : head_dim_(a.integer("head_dim")), dropout_(a.number("dropout", 0.0)), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = a.integer("heads") * head_dim_;
    const std::int64_t kv = a.integer("kv_heads") * head_dim_;
    q_proj_ = Linear(b, m + "q_proj", width, q, a.flag("qkv_bias", false));
    k_proj_ = Linear(b, m + "k_proj", width, kv, a.flag("qkv_bias", false));
    v_proj_ = Linear(b, m + "v_proj", width, kv, a.flag("qkv_bias", false));
    o_proj_ = Linear(b, m + "o_proj", q, width, a.flag("o_bias", false));
    if (!a.flag("qk_norm", false)) return;
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_);
    k_norm_ = RmsNorm(b, m + "k_norm", head_dim_);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor heads(Play& play, const Linear& projection, const RmsNorm& norm, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor split = t.view(projection(play, x), {x->sizes[0], x->sizes[1], -1, head_dim_});
    return t.transpose(norm ? norm(play, split) : split, 1, 2);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor q = heads(play, q_proj_, q_norm_, x);
    Tensor k = heads(play, k_proj_, k_norm_, x);
    const Tensor v = heads(play, v_proj_, {}, x);
    {
      const Tensor cos = t.unsqueeze(s.cos, 1);
      const Tensor sin = t.unsqueeze(s.sin, 1);
      Tensor q_rotated = rotated(t, q, cos, sin);
      Tensor k_rotated = rotated(t, k, cos, sin);
      q = std::move(q_rotated);
      k = std::move(k_rotated);
    }
    const Tensor out = attend(play, s, q, k, v, dropout_, true, Softmax::in_fp32);
    return o_proj_(play, t.reshape(out, {x->sizes[0], x->sizes[1], -1}));
  }

  std::int64_t head_dim_;
  double dropout_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  RmsNorm q_norm_{}, k_norm_{};
};

}  // namespace

extern const OpType rotary_attention;
const OpType rotary_attention{"rotary_attention", make_module<RotaryAttention>};

}  // namespace oomplan::estimator::ops
