// XGLMAttention: products of all heads as one batch, capped from below; queries scaled before they are heads. Eager
// alone: transformers has no sdpa for it.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class XglmAttention final : public Module {
 public:
  XglmAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")), dropout_(a.number("dropout", 0.0)), module_(b.module_id(a.module())) {
    if (b.facts.attention != Attention::eager) a.unmodelled("kernels of attention other than eager");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    k_proj_ = Linear(b, m + "k_proj", width, width, true);
    v_proj_ = Linear(b, m + "v_proj", width, width, true);
    q_proj_ = Linear(b, m + "q_proj", width, width, true);
    out_proj_ = Linear(b, m + "out_proj", width, width, true);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    const Tensor before = s.attn_weights;  // The block's variable `_`, until this call returns.
    Tensor q = t.mul_scalar(q_proj_(play, x));
    Tensor k = k_proj_(play, x);
    Tensor v = v_proj_(play, x);
    k = heads_of(t, k, head_dim_);
    v = heads_of(t, v, head_dim_);
    q = heads_of(t, q, head_dim_);
    const Dims sizes = q->sizes;
    const Dims flat{saturating_mul(sizes[0], sizes[1]), -1, head_dim_};
    q = t.reshape(q, flat);
    k = t.reshape(k, flat);
    v = t.reshape(v, flat);
    const Tensor weights = weights_of(t, s, q, k, sizes);
    Tensor probabilities;
    {
      InBucket scores(t, Bucket::attention_scores);
      probabilities = t.functional_dropout(weights, dropout_);
    }
    Tensor out = t.view(t.bmm(probabilities, v), sizes);
    out = t.transpose(out, 1, 2);
    out = t.reshape(out, {sizes[0], sizes[2], -1});
    s.hidden = out_proj_(play, out);
    s.attn_weights = weights;
  }

 private:
  static Tensor weights_of(Torch& t, Stream& s, const Tensor& q, const Tensor& k, const Dims& sizes) {
    InBucket scores(t, Bucket::attention_scores);
    Tensor weights = t.bmm(q, t.transpose(k, 1, 2));
    const Dims flat = weights->sizes;
    if (const Tensor& mask = s.arguments.mask(Span::full)) {
      weights = t.add(t.view(weights, {sizes[0], sizes[1], sizes[2], sizes[2]}), mask);
      // torch.max with the lowest number, which keeps what torch.min does.
      weights = t.minimum(weights, t.empty({}, DType::fp32, "aten::full"));
      weights = t.view(weights, flat);
    }
    return t.softmax_last(weights);
  }

  std::int64_t head_dim_;
  double dropout_;
  std::int32_t module_;
  Linear k_proj_{}, v_proj_{}, q_proj_{}, out_proj_{};
};

}  // namespace

extern const OpType xglm_attention;
const OpType xglm_attention{"xglm_attention", make_module<XglmAttention>};

}  // namespace oomplan::estimator::ops
