// OPTAttention: projections with a bias, made in the order k, v, q; queries scaled before they are heads; no rotation.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class PlainAttention final : public Module {
 public:
  PlainAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        kind_{.dropout = a.number("dropout", 0.0)},
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const bool bias = a.flag("bias", true);
    k_proj_ = Linear(b, m + "k_proj", width, width, bias);
    v_proj_ = Linear(b, m + "v_proj", width, width, bias);
    q_proj_ = Linear(b, m + "q_proj", width, width, bias);
    out_proj_ = Linear(b, m + "out_proj", width, width, bias);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor q = heads_of(t, t.mul_scalar(q_proj_(play, x)), head_dim_);
    Tensor k = k_proj_(play, x);
    Tensor v = v_proj_(play, x);
    k = heads_of(t, k, head_dim_);
    v = heads_of(t, v, head_dim_);
    Tensor out = attend(play, s, q, k, v, kind_);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return out_proj_(play, out);
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  std::int32_t module_;
  Linear k_proj_{}, v_proj_{}, q_proj_{}, out_proj_{};
};

}  // namespace

extern const OpType plain_attention;
const OpType plain_attention{"plain_attention", make_module<PlainAttention>};

}  // namespace oomplan::estimator::ops
