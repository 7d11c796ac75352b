// GPT2Attention: one Conv1D for q, k and v, split; learned positions, so no rotation. In transformers 4 each layer
// holds a mask of all positions, which it does not read.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

class FusedAttention final : public Module {
 public:
  FusedAttention(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        head_dim_(a.quotient("width", "heads")),
        dropout_(a.number("dropout", 0.0)),
        residual_dropout_(a.number("residual_dropout", 0.0)),
        upcast_(a.flag("upcast", false)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    c_attn_ = Linear(b, m + "c_attn", width_, 3 * width_, true, LinearKind::conv1d);
    c_proj_ = Linear(b, m + "c_proj", width_, width_, true, LinearKind::conv1d);
    if (a.find(older_code) == nullptr) return;
    const std::int64_t positions = a.integer("positions");
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    allowed_ = b.torch.empty({1, 1, positions, positions}, DType::boolean, "buffer");
    masked_ = b.torch.empty({}, DType::fp32, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    s.attn_output = attention(play, s, s.hidden);
    s.hidden = s.attn_output;
  }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const std::vector<Tensor> parts = t.split(c_attn_(play, x), width_, 2);
    const Tensor k = heads_of(t, parts[1], head_dim_);
    const Tensor v = heads_of(t, parts[2], head_dim_);
    const Tensor q = heads_of(t, parts[0], head_dim_);
    Tensor out = attend(play, s, q, k, v,
                        {.dropout = t.drops ? dropout_ : 0.0, .softmax = Softmax::cast_to_values, .upcast = upcast_});
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    out = c_proj_(play, out);
    return t.dropout(out, residual_dropout_);
  }

  std::int64_t width_;
  std::int64_t head_dim_;
  double dropout_;
  double residual_dropout_;
  bool upcast_;
  std::int32_t module_;
  Linear c_attn_{}, c_proj_{};
  Tensor allowed_{}, masked_{};
};

}  // namespace

extern const OpType fused_attention;
const OpType fused_attention{"fused_attention", make_module<FusedAttention>};

}  // namespace oomplan::estimator::ops
