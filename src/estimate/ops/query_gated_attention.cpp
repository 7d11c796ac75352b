// Qwen3NextAttention: queries projected with a gate of their output beside them, and norms of the heads; a part of each
// head is turned.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class QueryGatedAttention final : public Module {
 public:
  QueryGatedAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        kind_{.dropout = a.number("dropout", 0.0)},
        rotary_(rotary_style(a, "rotary")),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t all = saturating_mul(a.integer("heads"), head_dim_);
    const std::int64_t kv = all / a.quotient("heads", "kv_heads");
    const bool bias = a.flag("bias", false);
    q_proj_ = Linear(b, m + "q_proj", width, saturating_mul(2, all), bias);
    k_proj_ = Linear(b, m + "k_proj", width, kv, bias);
    v_proj_ = Linear(b, m + "v_proj", width, kv, bias);
    o_proj_ = Linear(b, m + "o_proj", all, width, bias);
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_, rms_style(a, "norm"));
    k_norm_ = RmsNorm(b, m + "k_norm", head_dim_, rms_style(a, "norm"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    const Dims heads{x->sizes[0], x->sizes[1], -1, head_dim_};
    const Dims flat{x->sizes[0], x->sizes[1], -1};
    Tensor q, gate;
    {
      const Tensor both = t.view(q_proj_(play, x), {x->sizes[0], x->sizes[1], -1, 2 * head_dim_});
      const std::vector<Tensor> halves = t.split(both, head_dim_, 3);
      q = halves[0];
      gate = t.reshape(halves[1], flat);
    }
    q = t.transpose(q_norm_(play, t.view(q, heads)), 1, 2);
    Tensor k = t.transpose(k_norm_(play, t.view(k_proj_(play, x), heads)), 1, 2);
    const Tensor v = t.transpose(t.view(v_proj_(play, x), heads), 1, 2);
    rotate(t, rotary_, q, k, s.arguments.cos[0], s.arguments.sin[0]);
    Tensor out = t.reshape(attend(play, s, q, k, v, kind_), flat);
    out = t.mul(out, t.sigmoid(gate));
    s.hidden = o_proj_(play, out);
  }

 private:
  std::int64_t head_dim_;
  AttentionKind kind_;
  Rotary rotary_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  RmsNorm q_norm_{}, k_norm_{};
};

}  // namespace

extern const OpType query_gated_attention;
const OpType query_gated_attention{"query_gated_attention", make_module<QueryGatedAttention>};

}  // namespace oomplan::estimator::ops
