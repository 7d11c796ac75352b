// MPNetAttention: BERT's, whose scores are divided, get a bias in place and keep their name until the function returns.
#include "modules/attention_core.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class MpnetAttention final : public Module {
 public:
  MpnetAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        dropout_(a.number("dropout", 0.0)),
        hidden_dropout_(a.number("hidden_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    q_ = Linear(b, m + "attn.q", width, width, true);
    k_ = Linear(b, m + "attn.k", width, width, true);
    v_ = Linear(b, m + "attn.v", width, width, true);
    o_ = Linear(b, m + "attn.o", width, width, true);
    norm_ = LayerNorm(b, m + "LayerNorm", width);
    if (b.facts.attention != Attention::eager) a.unmodelled("attention other than MPNet's own");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor output = self_attention(play, s, s.hidden);
    s.hidden = norm_(play, t.add(t.dropout(output, hidden_dropout_), s.hidden));
  }

 private:
  Tensor self_attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    const Tensor q = heads_of(t, q_(play, x), head_dim_);
    const Tensor k = heads_of(t, k_(play, x), head_dim_);
    const Tensor v = heads_of(t, v_(play, x), head_dim_);
    Tensor scores;
    Tensor weights;
    {
      InBucket bucket(t, Bucket::attention_scores);
      scores = t.matmul(q, t.transpose(k, 2, 3));
      scores = t.div_scalar(scores);
      scores = t.add_(scores, s.arguments.bias);
      const Tensor& mask = s.arguments.mask(Span::full);
      if (mask) scores = t.add(scores, mask);
      weights = t.softmax_last(scores);
      weights = t.dropout(weights, dropout_);
    }
    Tensor context = t.matmul(weights, v);
    context = t.contiguous(t.permute(context, {0, 2, 1, 3}));
    context = t.view(context, {x->sizes[0], x->sizes[1], -1});
    return o_(play, context);
  }

  std::int64_t head_dim_;
  double dropout_;
  double hidden_dropout_;
  std::int32_t module_;
  Linear q_{}, k_{}, v_{}, o_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType mpnet_attention;
const OpType mpnet_attention{"mpnet_attention", make_module<MpnetAttention>};

}  // namespace oomplan::estimator::ops
