// AfmoeAttention: norms of the heads, and an output that a projection of the input gates; only some layers turn.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class GatedAttention final : public Module {
 public:
  GatedAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        kind_{.dropout = a.number("dropout", 0.0), .span = a.span("span")},
        rotary_(rotary_style(a, "rotary")),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = saturating_mul(a.integer("heads"), head_dim_);
    const std::int64_t kv = q / a.quotient("heads", "kv_heads");
    const bool bias = a.flag("bias", false);
    q_proj_ = Linear(b, m + "q_proj", width, q, bias);
    k_proj_ = Linear(b, m + "k_proj", width, kv, bias);
    v_proj_ = Linear(b, m + "v_proj", width, kv, bias);
    o_proj_ = Linear(b, m + "o_proj", q, width, bias);
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_, rms_style(a, "norm"));
    k_norm_ = RmsNorm(b, m + "k_norm", head_dim_, rms_style(a, "norm"));
    gate_proj_ = Linear(b, m + "gate_proj", width, q, false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    const Dims heads{x->sizes[0], x->sizes[1], -1, head_dim_};
    Tensor q = t.view(q_proj_(play, x), heads);
    Tensor k = t.view(k_proj_(play, x), heads);
    Tensor v = t.view(v_proj_(play, x), heads);
    const Tensor gate = gate_proj_(play, x);
    q = t.transpose(q_norm_(play, q), 1, 2);
    k = t.transpose(k_norm_(play, k), 1, 2);
    v = t.transpose(v, 1, 2);
    rotate(t, rotary_, q, k, s.arguments.cos[0], s.arguments.sin[0]);
    Tensor out = t.view(attend(play, s, q, k, v, kind_), {x->sizes[0], x->sizes[1], -1});
    out = t.mul(out, t.sigmoid(gate));
    s.hidden = o_proj_(play, out);
  }

 private:
  std::int64_t head_dim_;
  AttentionKind kind_;
  Rotary rotary_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{}, gate_proj_{};
  RmsNorm q_norm_{}, k_norm_{};
};

}  // namespace

extern const OpType gated_attention;
const OpType gated_attention{"gated_attention", make_module<GatedAttention>};

}  // namespace oomplan::estimator::ops
