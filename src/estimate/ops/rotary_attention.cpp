// LlamaAttention and its like: separate q, k, v projections, rotary embedding, grouped key-value heads, and norms of q
// and k where `qk_norm` says where: by heads as Qwen3, of heads brought to the front as Gemma 3, of the whole
// projection as OLMo 2, or after the rotation as HunYuan; of the attention's output as BitNet (`output_norm`). Not
// causal of encoders (`causal: false`).
#include "modules/attention_core.hpp"
#include "modules/hub_kernels.hpp"
#include "modules/liger.hpp"
#include "modules/linear.hpp"
#include "modules/lora_kernels.hpp"
#include "modules/norm_rope.hpp"
#include "modules/rms_norm.hpp"
#include "modules/rotary.hpp"
#include "modules/tensor_parallel.hpp"
#include "modules/unsloth_layers.hpp"
#include "torch/unsloth.hpp"

namespace oomplan::estimator::ops {
namespace {

enum class QkNorm { none, heads, transposed, whole, turned };
constexpr std::array<std::string_view, 5> qk_norms{"none", "heads", "transposed", "whole", "turned"};

class RotaryAttention final : public Module {
 public:
  RotaryAttention(const Attributes& a, Builder& b)
      : head_dim_(a.integer("head_dim")),
        kind_{.dropout = a.number("dropout", 0.0),
              .causal = a.flag("causal", true),
              .softmax = a.flag("plain_softmax", false) ? Softmax::as_is : Softmax::in_fp32,
              .span = a.span("span"),
              .softcapped = a.find("softcap") != nullptr},
        drop_(b.dropout()),
        residual_dropout_(a.number("residual_dropout", 0.0)),
        keys_scaled_(a.flag("scaled_keys", false)),
        cuts_by_names_(a.flag("cuts_by_names", false)),
        by_position_(a.flag("scaled_by_position", false)),
        qk_norm_(static_cast<QkNorm>(a.choice("qk_norm", qk_norms))),
        rotary_(a.text("positions", "rope") == "rope" ? rotary_style(a, "rotary") : Rotary::none),
        rotary_span_(static_cast<std::size_t>(a.span("rotary_span"))),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t q = a.integer("heads") * head_dim_;
    const std::int64_t kv = q / a.quotient("heads", "kv_heads");
    check_shared_heads(b, a.integer("heads"), kv / head_dim_);
    q_proj_ = Linear::columns(b, m + "q_proj", width, q, a.flag("qkv_bias", false));
    k_proj_ = Linear::columns(b, m + "k_proj", width, kv, a.flag("qkv_bias", false));
    v_proj_ = Linear::columns(b, m + "v_proj", width, kv, a.flag("qkv_bias", false));
    o_proj_ = Linear::rows(b, m + a.text("output", "o_proj"), q, width, a.flag("o_bias", false));
    if (a.find("output_norm") != nullptr) output_norm_ = RmsNorm(b, m + a.text("output_norm", ""), q);
    if (b.facts.lora_qkv_kernel && keys_scaled_) a.unmodelled("fused LoRA kernels over scaled keys");
    if (b.facts.lora_qkv_kernel) fused_qkv_ = FusedLora({&q_proj_, &k_proj_, &v_proj_});
    if (b.facts.lora_o_kernel) fused_o_ = FusedLora({&o_proj_});
    if (qk_norm_ == QkNorm::none) return;
    if (!a.flag("norm_scaled", true)) {
      q_norm_ = RmsNorm::unscaled(b, m + "q_norm", rms_style(a, "norm"));
      k_norm_ = RmsNorm::unscaled(b, m + "k_norm", rms_style(a, "norm"));
      return;
    }
    const bool whole = qk_norm_ == QkNorm::whole;
    q_norm_ = RmsNorm(b, m + a.text("q_norm", "q_norm"), whole ? q : head_dim_, rms_style(a, "norm"));
    k_norm_ = RmsNorm(b, m + a.text("k_norm", "k_norm"), whole ? kv : head_dim_, rms_style(a, "norm"));
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, whole_rows(play, s.hidden)); }

 private:
  Tensor heads(Play& play, const RmsNorm& norm, const Tensor& projected) const {
    Torch& t = play.torch;
    const Tensor split = t.view(projected, {projected->sizes[0], projected->sizes[1], -1, head_dim_});
    return t.transpose(norm && qk_norm_ == QkNorm::heads ? norm(play, split) : split, 1, 2);
  }

  /// q, k and v before they are heads.
  std::array<Tensor, 3> projections(Play& play, const Tensor& x) const {
    if (fused_qkv_.complete()) {
      const std::array<Tensor, 3> qkv = fused_qkv_(play, x);
      return {whole(play, q_norm_, qkv[0]), whole(play, k_norm_, qkv[1]), qkv[2]};
    }
    Tensor q = whole(play, q_norm_, q_proj_(play, x));
    Tensor k = whole(play, k_norm_, k_proj_(play, x));
    return {std::move(q), std::move(k), v_proj_(play, x)};
  }

  Tensor whole(Play& play, const RmsNorm& norm, Tensor projected) const {
    return norm && qk_norm_ == QkNorm::whole ? norm(play, projected) : projected;
  }

  std::array<Tensor, 3> heads_of(Play& play, const Tensor& x) const {
    if (fused_qkv_.complete() || qk_norm_ == QkNorm::whole) {
      const std::array<Tensor, 3> qkv = projections(play, x);
      return {heads(play, q_norm_, qkv[0]), heads(play, k_norm_, qkv[1]), heads(play, {}, qkv[2])};
    }
    Tensor q = heads(play, q_norm_, q_proj_(play, x));
    Tensor k = heads(play, k_norm_, k_proj_(play, x));
    if (keys_scaled_) k = play.torch.mul_scalar(k);
    Tensor v = heads(play, {}, v_proj_(play, x));
    return {std::move(q), std::move(k), std::move(v)};
  }

  /// Axolotl's forward of Qwen3Attention (monkeypatch/models/qwen3/fused_attn.py).
  std::array<Tensor, 3> fused_heads(Play& play, const Tensor& x, const Tensor& cos, const Tensor& sin) const {
    Torch& t = play.torch;
    std::array<Tensor, 3> qkv = projections(play, x);
    for (Tensor& part : qkv) part = t.view(part, {x->sizes[0], x->sizes[1], -1, head_dim_});
    qkv[0] = t.transpose(fused_norm_rope(t, qkv[0], q_norm_.weight(), cos, sin), 1, 2);
    qkv[1] = t.transpose(fused_norm_rope(t, qkv[1], k_norm_.weight(), cos, sin), 1, 2);
    qkv[2] = t.transpose(qkv[2], 1, 2);
    return qkv;
  }

  /// Of each position's three kinds its share, in transformers 4 (apply_multimodal_rotary_pos_emb).
  static Tensor share_of(Torch& t, const Tensor& turns) {
    const Dims& sizes = turns->sizes;
    return sizes.size() == 4 ? t.empty({sizes[1], sizes[2], sizes[3]}, turns->dtype, "aten::cat") : turns;
  }

  std::array<Tensor, 3> turned_heads(Play& play, const Tensor& x, const Tensor& all_cos, const Tensor& all_sin) const {
    Torch& t = play.torch;
    auto [q, k, v] = heads_of(play, x);
    const bool turns = rotary_ != Rotary::none;
    const Tensor cos = turns ? share_of(t, all_cos) : Tensor{};
    const Tensor sin = turns ? share_of(t, all_sin) : Tensor{};
    if (qk_norm_ == QkNorm::transposed) normalise(play, q, k);
    if (play.facts.liger_rope && turns) {
      liger::rotate(t, q, k, cos, sin);
    } else if (takes_hub_kernels(play.facts) && rotary_ == Rotary::halves) {
      rotate_by_hub(t, q, k);
    } else {
      rotate(t, rotary_, q, k, cos, sin);
    }
    if (qk_norm_ == QkNorm::turned) normalise(play, q, k);
    return {std::move(q), std::move(k), std::move(v)};
  }

  /// What Phi's and StableLM's forward cuts of the heads itself, by names that it has until it returns.
  struct Cut {
    Tensor q_turned{}, q_pass{}, k_turned{}, k_pass{};
  };

  std::array<Tensor, 3> cut_heads(Play& play, const Tensor& x, const Tensor& cos, const Tensor& sin, Cut& cut) const {
    const std::int64_t width = cos->sizes.back();
    if (width == head_dim_) return turned_heads(play, x, cos, sin);
    Torch& t = play.torch;
    auto [q, k, v] = heads_of(play, x);
    cut = {t.slice(q, 3, 0, width), t.slice(q, 3, width, head_dim_ - width), t.slice(k, 3, 0, width),
           t.slice(k, 3, width, head_dim_ - width)};
    rotate(t, Rotary::halves, cut.q_turned, cut.k_turned, cos, sin);
    q = t.cat({cut.q_turned, cut.q_pass}, 3);
    k = t.cat({cut.k_turned, cut.k_pass}, 3);
    return {std::move(q), std::move(k), std::move(v)};
  }

  void normalise(Play& play, Tensor& q, Tensor& k) const {
    q = q_norm_(play, q);
    k = k_norm_(play, k);
  }

  /// Of the dtype of the values, which autocast lowers.
  Turns own_turns(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    Restore no_grad(t.grad_enabled, false);
    const Tensor freqs = rotary_angles(t, {1, x->sizes[1], head_dim_ / 2});
    return turns_of(t, freqs, false, t.autocast().value_or(x->dtype));
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Turns turns = play.facts.rotary_in_layers && rotary_ != Rotary::none ? own_turns(play, x) : Turns{};
    const Tensor& cos = turns.cos ? turns.cos : s.arguments.cos[rotary_span_];
    const Tensor& sin = turns.sin ? turns.sin : s.arguments.sin[rotary_span_];
    const bool fused = play.facts.fused_norm_rope && qk_norm_ == QkNorm::heads;
    Cut cut;
    auto [q, k, v] = fused            ? fused_heads(play, x, cos, sin)
                     : cuts_by_names_ ? cut_heads(play, x, cos, sin, cut)
                                      : turned_heads(play, x, cos, sin);
    if (by_position_) q = scaled_by_position(t, q);
    // flex_attention, which is compiled; the sum after it is of the input's sizes.
    if (t.unsloth != nullptr && t.unsloth->compiled() && t.grad_enabled && !s.arguments.mask(kind_.span)) {
      t.unsloth->leave_garbage(
          rotary_span_, {t.detach(q), t.detach(k), t.detach(v), t.empty(x->sizes, x->dtype, "aten::add")}, s.residual);
    }
    const Tensor out = attend(play, s, q, k, v, kind_);
    Tensor flat = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    if (output_norm_) flat = output_norm_(play, flat);
    const Tensor projected = fused_o_.complete() ? fused_o_(play, flat)[0] : o_proj_(play, flat);
    return (t.*drop_)(projected, residual_dropout_);
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  Builder::Dropout drop_;
  double residual_dropout_;
  bool keys_scaled_;    ///< By a number, as Falcon H1's.
  bool cuts_by_names_;  ///< The part of a head that turns, in the forward itself.
  bool by_position_;    ///< Queries, after they are turned.
  QkNorm qk_norm_;
  Rotary rotary_;
  std::size_t rotary_span_;  ///< Whose cos and sin.
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  RmsNorm q_norm_{}, k_norm_{}, output_norm_{};
  FusedLora fused_qkv_{}, fused_o_{};
};

std::unique_ptr<Module> make_attention(const Attributes& attributes, Builder& builder) {
  return builder.facts.unsloth ? make_unsloth_attention(attributes, builder)
                               : make_module<RotaryAttention>(attributes, builder);
}

}  // namespace

extern const OpType rotary_attention;
const OpType rotary_attention{"rotary_attention", make_attention, CalledBy::name};

}  // namespace oomplan::estimator::ops
