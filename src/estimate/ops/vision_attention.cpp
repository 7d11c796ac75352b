// CLIPAttention, SiglipAttention, InternVLVisionAttention, PixtralAttention: every patch of a picture sees all of it;
// norms of the whole q and k (`qk_norm`), and rotation by place (`rotary`), where the family has them.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class VisionAttention final : public Module {
 public:
  VisionAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        kind_{.dropout = a.number("dropout", 0.0),
              .causal = a.flag("causal", false),
              .softmax = a.flag("plain_softmax", false) ? Softmax::as_is : Softmax::in_fp32,
              .pictures = !a.flag("of_text", false)},
        rotary_(a.flag("rotary", false)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const bool bias = a.flag("bias", true);
    q_proj_ = Linear(b, m + "q_proj", width, width, bias);
    k_proj_ = Linear(b, m + "k_proj", width, width, a.flag("key_bias", bias));
    v_proj_ = Linear(b, m + "v_proj", width, width, bias);
    out_proj_ = Linear(b, m + a.text("output", "out_proj"), width, width, a.flag("o_bias", true));
    if (!a.flag("qk_norm", false)) return;
    q_norm_ = RmsNorm(b, m + "q_norm", width);
    k_norm_ = RmsNorm(b, m + "k_norm", width);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor q = q_proj_(play, x);
    Tensor k = k_proj_(play, x);
    const Tensor v = heads_of(t, v_proj_(play, x), head_dim_);
    q = heads_of(t, q_norm_ ? q_norm_(play, q) : q, head_dim_);
    k = heads_of(t, k_norm_ ? k_norm_(play, k) : k, head_dim_);
    if (rotary_) rotate(t, Rotary::halves, q, k, s.arguments.cos[0], s.arguments.sin[0]);
    Tensor out = attend(play, s, q, k, v, kind_);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return out_proj_(play, out);
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  bool rotary_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, out_proj_{};
  RmsNorm q_norm_{}, k_norm_{};
};

}  // namespace

extern const OpType vision_attention;
const OpType vision_attention{"vision_attention", make_module<VisionAttention>};

}  // namespace oomplan::estimator::ops
