// GPTNeoSelfAttention: products in fp32, masked by a table of all positions that each layer has, whether it looks at
// all tokens or at near ones. Eager alone: transformers has no sdpa for it.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class GptNeoAttention final : public Module {
 public:
  GptNeoAttention(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        dropout_(a.number("dropout", 0.0)),
        residual_dropout_(a.number("residual_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    if (b.facts.attention != Attention::eager) a.unmodelled("kernels of attention other than eager");
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t positions = a.integer("positions");
    k_proj_ = Linear(b, m + "k_proj", width, width, false);
    v_proj_ = Linear(b, m + "v_proj", width, width, false);
    q_proj_ = Linear(b, m + "q_proj", width, width, false);
    out_proj_ = Linear(b, m + "out_proj", width, width, true);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    allowed_ = b.torch.empty({1, 1, positions, positions}, DType::boolean, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor& x = s.hidden;
    Tensor q = q_proj_(play, x);
    Tensor k = k_proj_(play, x);
    Tensor v = v_proj_(play, x);
    q = heads_of(t, q, head_dim_);
    k = heads_of(t, k, head_dim_);
    v = heads_of(t, v, head_dim_);
    Tensor out = attend(t, s, q, k, v);
    out = t.contiguous(t.permute(out, {0, 2, 1, 3}));
    out = out_proj_(play, t.view(out, {x->sizes[0], x->sizes[1], -1}));
    s.hidden = t.dropout(out, residual_dropout_);
  }

 private:
  Tensor attend(Torch& t, Stream& s, const Tensor& query, const Tensor& key, const Tensor& value) const {
    InBucket scores(t, Bucket::attention_scores);
    const Tensor q = t.to(query, DType::fp32);
    const Tensor k = t.to(key, DType::fp32);
    const std::int64_t length = key->sizes[2];
    Tensor weights = t.matmul(q, t.transpose(k, 2, 3));
    const Tensor causal_mask = t.slice(t.slice(allowed_, 2, 0, length), 3, 0, length);
    const Tensor lowest = t.empty({}, weights->dtype, "aten::_to_copy");
    weights = t.where(causal_mask, weights, lowest);
    if (const Tensor& mask = s.arguments.mask(Span::full)) weights = t.add(weights, mask);
    weights = t.softmax_last(weights);
    weights = t.to(weights, value->dtype);
    weights = t.dropout(weights, dropout_);
    Tensor out = t.matmul(weights, value);
    s.attn_weights = std::move(weights);
    return out;
  }

  std::int64_t head_dim_;
  double dropout_;
  double residual_dropout_;
  std::int32_t module_;
  Linear k_proj_{}, v_proj_{}, q_proj_{}, out_proj_{};
  Tensor allowed_{};
};

}  // namespace

extern const OpType gpt_neo_attention;
const OpType gpt_neo_attention{"gpt_neo_attention", make_module<GptNeoAttention>};

}  // namespace oomplan::estimator::ops
