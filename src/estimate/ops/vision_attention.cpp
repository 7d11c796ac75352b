// CLIPAttention, SiglipAttention: every patch of a picture sees all of it.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class VisionAttention final : public Module {
 public:
  VisionAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        kind_{.dropout = a.number("dropout", 0.0), .causal = false},
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    k_proj_ = Linear(b, m + "k_proj", width, width, true);
    v_proj_ = Linear(b, m + "v_proj", width, width, true);
    q_proj_ = Linear(b, m + "q_proj", width, width, true);
    out_proj_ = Linear(b, m + a.text("output", "out_proj"), width, width, true);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor heads(Torch& t, const Tensor& x) const {
    return t.transpose(t.view(x, {x->sizes[0], x->sizes[1], -1, head_dim_}), 1, 2);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor q = heads(t, q_proj_(play, x));
    const Tensor k = heads(t, k_proj_(play, x));
    const Tensor v = heads(t, v_proj_(play, x));
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

extern const OpType vision_attention;
const OpType vision_attention{"vision_attention", make_module<VisionAttention>};

}  // namespace oomplan::estimator::ops
