// BartAttention and its like: projections with a bias, made in the order k, v, q; of a stack's own tokens, or of a
// decoder's with its encoder's (`cross`).
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class StackAttention final : public Module {
 public:
  StackAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        kind_{.dropout = a.number("dropout", 0.0),
              .causal = a.flag("causal", false),
              .softmax = Softmax::as_is,
              .pictures = a.flag("media", false),
              .cross = a.flag("cross", false)},
        copied_(a.flag("copied", false)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    k_proj_ = Linear(b, m + "k_proj", width, width, a.flag("key_bias", true));
    v_proj_ = Linear(b, m + "v_proj", width, width, true);
    q_proj_ = Linear(b, m + "q_proj", width, width, true);
    out_proj_ = Linear(b, m + "out_proj", width, width, true);
  }

  void forward(Play& play, Stream& s) const override {
    const Tensor before = s.attn_weights;  // The block's variable `_`, until this call returns.
    s.hidden = attention(play, s, s.hidden);
  }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& seen = kind_.cross ? s.arguments.encoder : x;
    Tensor q;
    Tensor k;
    Tensor v;
    if (copied_) {  // WhisperAttention, which scales queries itself and makes heads contiguous.
      q = t.contiguous(heads_of(t, t.mul_scalar(q_proj_(play, x)), head_dim_));
      k = t.contiguous(heads_of(t, k_proj_(play, seen), head_dim_));
      v = t.contiguous(heads_of(t, v_proj_(play, seen), head_dim_));
    } else {
      q = heads_of(t, q_proj_(play, x), head_dim_);
      k = k_proj_(play, seen);
      v = v_proj_(play, seen);
      k = heads_of(t, k, head_dim_);
      v = heads_of(t, v, head_dim_);
    }
    Tensor out = attend(play, s, q, k, v, kind_);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return out_proj_(play, out);
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  bool copied_;
  std::int32_t module_;
  Linear k_proj_{}, v_proj_{}, q_proj_{}, out_proj_{};
};

}  // namespace

extern const OpType stack_attention;
const OpType stack_attention{"stack_attention", make_module<StackAttention>};

}  // namespace oomplan::estimator::ops
