// GPTBigCodeAttention: queries, and one head of keys and values for all of them, of one projection; or as many heads of
// each, cut head by head, where it is not `shared`. Learned positions, so no rotation.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"

namespace oomplan::estimator::ops {
namespace {

class MultiQueryAttention final : public Module {
 public:
  MultiQueryAttention(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        head_dim_(a.quotient("width", "heads")),
        shared_(a.flag("shared", true)),
        dropout_(a.number("dropout", 0.0)),
        residual_dropout_(a.number("residual_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    c_attn_ = Linear(b, m + "c_attn", width_, width_ + 2 * (shared_ ? head_dim_ : width_), true);
    c_proj_ = Linear(b, m + "c_proj", width_, width_, true);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  std::vector<Tensor> parts(Torch& t, const Tensor& fused) const {
    const std::int64_t batch = fused->sizes[0];
    const std::int64_t length = fused->sizes[1];
    if (shared_) {
      std::vector<Tensor> out = t.split_sizes(t.unsqueeze(fused, 1), {width_, head_dim_, head_dim_}, 3);
      out[0] = t.transpose(t.view(out[0], {batch, length, -1, head_dim_}), 1, 2);
      return out;
    }
    return t.split(t.transpose(t.view(fused, {batch, length, -1, 3 * head_dim_}), 1, 2), head_dim_, 3);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const std::vector<Tensor> qkv = parts(t, c_attn_(play, x));
    Tensor out = attend(play, s, qkv[0], qkv[1], qkv[2], {.dropout = dropout_});
    out = t.reshape(out, {x->sizes[0], x->sizes[1], -1});
    out = c_proj_(play, out);
    return t.dropout(out, residual_dropout_);
  }

  std::int64_t width_;
  std::int64_t head_dim_;
  bool shared_;
  double dropout_;
  double residual_dropout_;
  std::int32_t module_;
  Linear c_attn_{}, c_proj_{};
};

}  // namespace

extern const OpType multi_query_attention;
const OpType multi_query_attention{"multi_query_attention", make_module<MultiQueryAttention>};

}  // namespace oomplan::estimator::ops
