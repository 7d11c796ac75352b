// PersimmonAttention: one projection, whose heads have q, k and v beside each other; layer norms of q and k; a part of
// each turned. What it turns has names of its own that live until it returns.
#include "modules/attention_core.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class PersimmonAttention final : public Module {
 public:
  PersimmonAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        turned_(a.integer("turned")),
        kind_{.dropout = a.number("dropout", 0.0)},
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    qkv_ = Linear(b, m + "query_key_value", width, 3 * width, true);
    dense_ = Linear(b, m + "dense", width, width, true);
    if (!a.flag("norms", true)) return;
    q_norm_ = LayerNorm(b, m + "q_layernorm", head_dim_);
    k_norm_ = LayerNorm(b, m + "k_layernorm", head_dim_);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor fused = qkv_(play, x);
    const Tensor heads = t.view(fused, {x->sizes[0], x->sizes[1], -1, 3, head_dim_});
    Tensor q = t.select(heads, 3);
    Tensor k = t.select(heads, 3);
    Tensor v = t.select(heads, 3);
    if (q_norm_) q = q_norm_(play, q);
    if (k_norm_) k = k_norm_(play, k);
    q = t.transpose(q, 1, 2);
    v = t.transpose(v, 1, 2);
    k = t.transpose(k, 1, 2);
    Tensor q_turned = t.slice(q, 3, 0, turned_);
    const Tensor q_pass = t.slice(q, 3, turned_, head_dim_ - turned_);
    Tensor k_turned = t.slice(k, 3, 0, turned_);
    const Tensor k_pass = t.slice(k, 3, turned_, head_dim_ - turned_);
    rotate(t, Rotary::halves, q_turned, k_turned, s.arguments.cos[0], s.arguments.sin[0]);
    q = t.cat({q_turned, q_pass}, 3);
    k = t.cat({k_turned, k_pass}, 3);
    Tensor out = attend(play, s, q, k, v, kind_);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return dense_(play, out);
  }

  std::int64_t head_dim_;
  std::int64_t turned_;  ///< Of a head's width.
  AttentionKind kind_;
  std::int32_t module_;
  Linear qkv_{}, dense_{};
  LayerNorm q_norm_{}, k_norm_{};
};

}  // namespace

extern const OpType persimmon_attention;
const OpType persimmon_attention{"persimmon_attention", make_module<PersimmonAttention>};

}  // namespace oomplan::estimator::ops
