// ModernBertAttention: queries, keys and values of one projection, turned in fp32; every position sees every other, or
// those near it.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/rotary.hpp"

namespace oomplan::estimator::ops {
namespace {

class UnboundAttention final : public Module {
 public:
  UnboundAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        kind_{.dropout = a.number("dropout", 0.0), .causal = false, .span = a.span("span")},
        module_(b.module_id(a.module())) {
    if (head_dim_ % 2 != 0) a.unmodelled("heads of an odd width");
    const std::int64_t width = a.integer("width");
    const bool bias = a.flag("bias", false);
    qkv_ = Linear(b, a.module() + ".Wqkv", width, 3 * width, bias);
    output_ = Linear(b, a.module() + ".Wo", width, width, bias);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor qkv = t.view(qkv_(play, x), {x->sizes[0], x->sizes[1], 3, -1, head_dim_});
    std::vector<Tensor> parts = t.unbind(qkv, 2);
    for (Tensor& part : parts) part = t.transpose(part, 1, 2);
    const auto span = static_cast<std::size_t>(kind_.span);
    rotate(t, Rotary::raised_halves, parts[0], parts[1], s.arguments.cos[span], s.arguments.sin[span]);
    Tensor out = attend(play, s, parts[0], parts[1], parts[2], kind_);
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    return t.dropout(output_(play, out), kind_.dropout);
  }

  std::int64_t head_dim_;
  AttentionKind kind_;
  std::int32_t module_;
  Linear qkv_{}, output_{};
};

}  // namespace

extern const OpType unbound_attention;
const OpType unbound_attention{"unbound_attention", make_module<UnboundAttention>};

}  // namespace oomplan::estimator::ops
