// AfmoeAttention: norms of the heads, and an output that a projection of the input gates; only some layers turn.
#include "modules/attention_core.hpp"
#include "modules/head_projections.hpp"
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
        module_(b.module_id(a.module())),
        projections_(a, b) {
    const std::string m = a.module() + ".";
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_, rms_style(a, "norm"));
    k_norm_ = RmsNorm(b, m + "k_norm", head_dim_, rms_style(a, "norm"));
    gate_proj_ = Linear(b, m + "gate_proj", a.integer("width"), saturating_mul(a.integer("heads"), head_dim_), false);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    const Dims heads{x->sizes[0], x->sizes[1], -1, head_dim_};
    Tensor q = t.view(projections_.q(play, x), heads);
    Tensor k = t.view(projections_.k(play, x), heads);
    Tensor v = t.view(projections_.v(play, x), heads);
    const Tensor gate = gate_proj_(play, x);
    q = t.transpose(q_norm_(play, q), 1, 2);
    k = t.transpose(k_norm_(play, k), 1, 2);
    v = t.transpose(v, 1, 2);
    rotate(t, rotary_, q, k, s.arguments.cos[0], s.arguments.sin[0]);
    Tensor out = t.view(attend(play, s, q, k, v, kind_), {x->sizes[0], x->sizes[1], -1});
    out = t.mul(out, t.sigmoid(gate));
    s.hidden = projections_.o(play, out);
  }

 private:
  std::int64_t head_dim_;
  AttentionKind kind_;
  Rotary rotary_;
  std::int32_t module_;
  HeadProjections projections_;
  Linear gate_proj_{};
  RmsNorm q_norm_{}, k_norm_{};
};

}  // namespace

extern const OpType gated_attention;
const OpType gated_attention{"gated_attention", make_module<GatedAttention>};

}  // namespace oomplan::estimator::ops
