// Attention with rotary embeddings whose q, k and v come of one projection: cut after one another (Phi-3), or head by
// head (GPT-NeoX), or clamped and split (DBRX).
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::array<std::string_view, 3> layouts{"one_after_another", "by_heads", "clamped"};

class FusedRotaryAttention final : public Module {
 public:
  FusedRotaryAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        q_(a.integer("heads") * head_dim_),
        kv_(q_ / a.quotient("heads", "kv_heads")),
        by_heads_(a.choice("layout", layouts) == 1),
        clamped_(a.choice("layout", layouts) == 2),
        kind_{.dropout = a.number("dropout", 0.0), .span = a.span("span")},
        rotary_(rotary_style(a, "rotary")),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    // Phi-3 makes its output's projection first, GPT-NeoX its input's; so do optimizers that go by order.
    if (!by_heads_) output_ = Linear(b, m + a.text("output", "o_proj"), q_, a.integer("width"), a.flag("bias", false));
    qkv_ = Linear(b, m + a.text("input", "qkv_proj"), a.integer("width"), q_ + 2 * kv_, a.flag("bias", false));
    if (by_heads_) output_ = Linear(b, m + a.text("output", "dense"), q_, a.integer("width"), a.flag("bias", false));
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor qkv = qkv_(play, x);
    if (clamped_) qkv = t.clamp(qkv);
    Tensor q, k, v;
    if (clamped_) {
      const std::vector<Tensor> split = t.split_sizes(qkv, {q_, kv_, kv_}, 2);
      q = heads_of(t, split[0], head_dim_);
      k = heads_of(t, split[1], head_dim_);
      v = heads_of(t, split[2], head_dim_);
    } else if (by_heads_) {
      const Tensor by_heads = t.transpose(t.view(qkv, {x->sizes[0], x->sizes[1], -1, 3 * head_dim_}), 1, 2);
      const std::vector<Tensor> parts = t.split(by_heads, head_dim_, 3);
      q = parts[0];
      k = parts[1];
      v = parts[2];
    } else {
      q = heads_of(t, t.slice(qkv, 2, 0, q_), head_dim_);
      k = heads_of(t, t.slice(qkv, 2, q_, kv_), head_dim_);
      v = heads_of(t, t.slice(qkv, 2, q_ + kv_, kv_), head_dim_);
    }
    rotate(t, rotary_, q, k, s.arguments.cos[0], s.arguments.sin[0]);
    const Tensor out = attend(play, s, q, k, v, kind_);
    return output_(play, t.reshape(out, {x->sizes[0], x->sizes[1], -1}));
  }

  std::int64_t head_dim_;
  std::int64_t q_;
  std::int64_t kv_;
  bool by_heads_;
  bool clamped_;
  AttentionKind kind_;
  Rotary rotary_;
  std::int32_t module_;
  Linear qkv_{}, output_{};
};

}  // namespace

extern const OpType fused_rotary_attention;
const OpType fused_rotary_attention{"fused_rotary_attention", make_module<FusedRotaryAttention>};

}  // namespace oomplan::estimator::ops
