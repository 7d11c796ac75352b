// SiglipMultiheadAttentionPoolingHead: one learned query that sees all patches, by torch.nn.MultiheadAttention, which
// returns its weights (torch/nn/functional.py: multi_head_attention_forward, need_weights).
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/learned_query.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class AttentionPool final : public Module {
 public:
  AttentionPool(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        head_dim_(a.quotient("width", "heads")),
        activation_(find_activation(a.text("activation", "gelu"), b)) {
    const std::string m = a.module() + ".";
    const std::string out = m + "attention.out_proj";
    if (b.facts.adapts() && b.targeted(out, true)) a.unmodelled("adapters in torch.nn.MultiheadAttention");
    if (b.quantized(out)) a.unmodelled("quantized weights in torch.nn.MultiheadAttention");
    query_ = LearnedQuery(b, m, width_, head_dim_);
    out_weight_ = b.weight(m + "attention.out_proj.weight", {width_, width_}, Part::matrix);
    out_bias_ = b.weight(m + "attention.out_proj.bias", {width_}, Part::bias);
    norm_ = LayerNorm(b, m + "layernorm", width_);
    first_ = Linear(b, m + "mlp.fc1", width_, a.integer("inner"), true);
    second_ = Linear(b, m + "mlp.fc2", a.integer("inner"), width_, true);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor mask = s.arguments.mask(Span::full) ? of_heads(play, s.hidden) : Tensor();
    const Tensor pooled = query_(t, s.hidden, out_weight_, out_bias_);
    Tensor hidden = norm_(play, pooled);
    hidden = second_(play, activation_(t, first_(play, hidden)));
    hidden = t.add(pooled, hidden);
    s.hidden = t.select(hidden, 1);
  }

 private:
  /// What the one query may see of padded pictures, for each head (Siglip2MultiheadAttentionPoolingHead).
  Tensor of_heads(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    InBucket scores(t, Bucket::attention_scores);
    const Dims sizes{x->sizes[0], width_ / head_dim_, 1, x->sizes[1]};
    if (play.facts.attention == Attention::eager) return t.empty(sizes, query_.dtype(), "aten::repeat");
    const Tensor repeated = t.empty(sizes, DType::boolean, "aten::repeat");
    return t.empty(sizes, query_.dtype(), "aten::where");
  }

  std::int64_t width_;
  std::int64_t head_dim_;
  Activation activation_;
  LearnedQuery query_{};
  Tensor out_weight_{}, out_bias_{};
  LayerNorm norm_{};
  Linear first_{}, second_{};
};

}  // namespace

extern const OpType attention_pool;
const OpType attention_pool{"attention_pool", make_module<AttentionPool>};

}  // namespace oomplan::estimator::ops
