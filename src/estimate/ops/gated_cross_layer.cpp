// MllamaCrossAttentionDecoderLayer: the text attends to all images of its row, by gates that are trained. Where no
// image comes with the batch, the model leaves the layer out.
#include "modules/activation.hpp"
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class GatedCrossLayer final : public Module {
 public:
  GatedCrossLayer(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        kind_{.dropout = a.number("dropout", 0.0), .causal = false, .cross = true},
        activation_(find_activation(a.text("activation", "silu"), b)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t kv = width / a.quotient("heads", "kv_heads");
    q_proj_ = Linear(b, m + "q_proj", width, width, false);
    k_proj_ = Linear(b, m + "k_proj", width, kv, false);
    v_proj_ = Linear(b, m + "v_proj", width, kv, false);
    o_proj_ = Linear(b, m + "o_proj", width, width, false);
    q_norm_ = RmsNorm(b, m + "q_norm", head_dim_);
    k_norm_ = RmsNorm(b, m + "k_norm", head_dim_);
    input_norm_ = RmsNorm(b, "input_layernorm", width);
    attention_gate_ = b.weight("cross_attn_attn_gate", {1}, Part::norm);
    gate_ = Linear(b, "mlp.gate_proj", width, a.integer("inner"), false);
    up_ = Linear(b, "mlp.up_proj", width, a.integer("inner"), false);
    down_ = Linear(b, "mlp.down_proj", a.integer("inner"), width, false);
    attention_norm_ = RmsNorm(b, "post_attention_layernorm", width);
    mlp_gate_ = b.weight("cross_attn_mlp_gate", {1}, Part::norm);
    refuse(a, b.facts);
  }

  void forward(Play& play, Stream& s) const override {
    if (!s.arguments.encoder) return;
    Torch& t = play.torch;
    s.residual = s.hidden;
    s.hidden = input_norm_(play, s.hidden);
    s.hidden = attention(play, s, s.hidden);
    s.hidden = t.add(s.residual, t.mul(t.tanh(attention_gate_), s.hidden));
    s.residual = s.hidden;
    s.hidden = attention_norm_(play, s.hidden);
    s.hidden = mlp(play, s.hidden);
    s.hidden = t.mul(t.select(s.arguments.row_mask, 1), s.hidden);
    s.hidden = t.add(s.residual, t.mul(t.tanh(mlp_gate_), s.hidden));
  }

 private:
  static void refuse(const Attributes& a, const Facts& f) {
    if (f.attention == Attention::flash_attention_2)
      a.unmodelled("FlashAttention 2, which transformers 5.23.0 has not for this family,");
    if (f.images.count > 0 && f.checkpointing && f.reentrant)
      a.unmodelled("reentrant checkpoints of layers that see images, whose backward goes through the tower again,");
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor q = heads_of(t, q_proj_(play, x), head_dim_);
    q = q_norm_(play, q);
    const Tensor& states = s.arguments.encoder;
    Tensor k = k_proj_(play, states);
    Tensor v = v_proj_(play, states);
    k = heads_of_row(t, k, x->sizes[0]);
    v = heads_of_row(t, v, x->sizes[0]);
    k = k_norm_(play, k);
    Tensor out = attend(play, s, q, k, v, kind_);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return o_proj_(play, out);
  }

  /// The tiles of a row's images one after the other.
  Tensor heads_of_row(Torch& t, const Tensor& x, std::int64_t rows) const {
    return t.transpose(t.view(x, {rows, -1, x->sizes.back() / head_dim_, head_dim_}), 1, 2);
  }

  Tensor mlp(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const auto inner = [&] {
      const Tensor gate = activation_(t, gate_(play, x));
      return t.mul(gate, up_(play, x));
    };
    return down_(play, inner());
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  Activation activation_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{}, gate_{}, up_{}, down_{};
  RmsNorm q_norm_{}, k_norm_{}, input_norm_{}, attention_norm_{};
  Tensor attention_gate_{}, mlp_gate_{};
};

}  // namespace

extern const OpType gated_cross_layer;
const OpType gated_cross_layer{"gated_cross_layer", make_module<GatedCrossLayer>};

}  // namespace oomplan::estimator::ops
