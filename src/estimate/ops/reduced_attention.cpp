// SegformerAttention: queries of all patches, keys and values of fewer, which a convolution makes of them.
#include <algorithm>

#include "modules/attention_core.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/pictures.hpp"

namespace oomplan::estimator::ops {
namespace {

class ReducedAttention final : public Module {
 public:
  ReducedAttention(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        head_dim_(a.quotient("width", "heads")),
        reduction_(a.integer("reduction")),
        kind_{.dropout = a.number("dropout", 0.0), .causal = false, .pictures = true},
        module_(b.module_id(a.module())) {
    const PictureSize size = picture_size(b, a.integer("image_size"));
    height_ = divided_up(size.height, a.integer("step"));
    columns_ = divided_up(size.width, a.integer("step"));
    const std::string m = a.module() + ".";
    q_proj_ = Linear(b, m + "q_proj", width_, width_, true);
    k_proj_ = Linear(b, m + "k_proj", width_, width_, true);
    v_proj_ = Linear(b, m + "v_proj", width_, width_, true);
    o_proj_ = Linear(b, m + "o_proj", width_, width_, true);
    if (reduction_ == 1) return;
    if (reduction_ > std::min(height_, columns_))
      a.unmodelled("a sr_ratio larger than its stage's grid of patches, at which the convolution stops,");
    const Conv2d::Shape shape{.in = width_, .out = width_, .kernel = reduction_, .stride = reduction_};
    convolution_ = Conv2d(b, m + "sequence_reduction.sequence_reduction", shape);
    norm_ = LayerNorm(b, m + "sequence_reduction.layer_norm", width_);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor reduced(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    const std::int64_t rows = x->sizes[0];
    Tensor hidden = t.reshape(t.transpose(x, 1, 2), {rows, width_, height_, columns_});
    hidden = convolution_(play, hidden);
    hidden = t.transpose(t.reshape(hidden, {rows, width_, -1}), 1, 2);
    return norm_(play, hidden);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor q = heads_of(t, q_proj_(play, x), head_dim_);
    const Tensor fewer = reduction_ > 1 ? reduced(play, x) : x;
    const Tensor k = heads_of(t, k_proj_(play, fewer), head_dim_);
    const Tensor v = heads_of(t, v_proj_(play, fewer), head_dim_);
    Tensor out = attend(play, s, q, k, v, kind_);
    out = t.contiguous(t.reshape(out, {x->sizes[0], x->sizes[1], -1}));
    return o_proj_(play, out);
  }

  std::int64_t width_;
  std::int64_t head_dim_;
  std::int64_t reduction_;
  std::int64_t height_ = 1;   ///< Of the stage's grid,
  std::int64_t columns_ = 1;  ///< … as is this.
  AttentionKind kind_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  Conv2d convolution_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType reduced_attention;
const OpType reduced_attention{"reduced_attention", make_module<ReducedAttention>};

}  // namespace oomplan::estimator::ops
