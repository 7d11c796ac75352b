// SwinLayer.forward between its first norm and its residual: patches attend within windows, which every second layer
// moves by half a window, with a table of their own for the distances. Its variables live until the layer returns;
// `normed` is the padded picture, which it has no more once the residual is added.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"
#include "torch/rolling.hpp"

namespace oomplan::estimator::ops {
namespace {

class WindowAttention final : public Module {
 public:
  WindowAttention(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        heads_(a.integer("heads")),
        window_(a.integer("window")),
        dropout_(a.number("dropout", 0.0)),
        hidden_dropout_(a.number("hidden_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const std::int64_t step = a.integer("step");
    const PictureSize size = picture_size(b, a.integer("image_size"));
    height_ = divided_up(size.height, step);
    columns_ = divided_up(size.width, step);
    const std::int64_t less = std::min(height_, columns_);
    if (less < window_) {
      refuse_images(b, "a picture of fewer patches than a window has no biases of its size",
                    "set image_height and image_width.");
    }
    shifts_ = a.flag("shifts", false) && less > window_;
    area_ = saturating_mul(window_, window_);
    const std::string m = a.module() + ".";
    const bool bias = a.flag("bias", true);
    q_proj_ = Linear(b, m + "q_proj", width_, width_, bias);
    k_proj_ = Linear(b, m + "k_proj", width_, width_, bias);
    v_proj_ = Linear(b, m + "v_proj", width_, width_, bias);
    o_proj_ = Linear(b, m + "o_proj", width_, width_, true);
    const std::int64_t distances = saturating_mul(2 * window_ - 1, 2 * window_ - 1);
    table_ = b.weight(m + "relative_position_bias.relative_position_bias_table", {distances, heads_}, Part::embedding);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    index_ = b.torch.empty({saturating_mul(area_, area_)}, DType::int64, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t rows = s.hidden->sizes[0];
    const std::int64_t height = saturating_mul(divided_up(height_, window_), window_);
    const std::int64_t columns = saturating_mul(divided_up(columns_, window_), window_);
    s.hidden = t.view(s.hidden, {rows, height_, columns_, width_});
    s.hidden = pad_to(t, s.hidden, {rows, height, columns, width_});
    s.normed = s.hidden;
    s.hidden = shifts_ ? roll_twice(t, s.normed) : s.normed;
    const Tensor windows = t.view(parted(t, s.hidden), {-1, area_, width_});
    s.hidden = windows;
    const Tensor mask = shifts_ ? regions(t, height, columns, s.normed->dtype) : Tensor();
    s.streams.held.push_back(windows);
    s.streams.held.push_back(mask);
    s.hidden = attention(play, s, windows, mask);
    s.hidden = t.dropout(s.hidden, hidden_dropout_);
    s.streams.held.push_back(s.hidden);
    s.hidden = t.view(s.hidden, {rows, height / window_, columns / window_, window_, window_, width_});
    s.hidden = t.view(t.contiguous(t.transpose(s.hidden, 2, 3)), {rows, height, columns, width_});
    if (shifts_) s.hidden = roll_twice(t, s.hidden);
    if (height > height_ || columns > columns_) {
      if (height > height_) s.hidden = t.slice(s.hidden, 1, 0, height_);
      if (columns > columns_) s.hidden = t.slice(s.hidden, 2, 0, columns_);
      s.hidden = t.contiguous(s.hidden);
    }
    s.hidden = t.view(s.hidden, {rows, height_ * columns_, width_});
    s.streams.held.push_back(s.hidden);
  }

 private:
  /// window_partition
  Tensor parted(Torch& t, const Tensor& x) const {
    const Dims& sizes = x->sizes;
    const Tensor grid = t.view(x, {sizes[0], sizes[1] / window_, window_, sizes[2] / window_, window_, sizes[3]});
    return t.view(t.contiguous(t.transpose(grid, 2, 3)), {-1, window_, window_, sizes[3]});
  }

  /// get_attn_mask: what came together only as the picture was moved does not see each other.
  Tensor regions(Torch& t, std::int64_t height, std::int64_t columns, DType dtype) const {
    const Tensor rows = t.empty({height}, DType::int64, "aten::add");
    const Tensor across = t.empty({columns}, DType::int64, "aten::add");
    Tensor picture = t.empty({1, height, columns, 1}, DType::int64, "aten::add");
    picture = t.to(picture, dtype);
    const Tensor windows = t.view(parted(t, picture), {-1, area_});
    const Dims sizes{windows->sizes[0], area_, area_};
    Tensor mask = t.empty(sizes, dtype, "aten::sub");
    Tensor filled = t.empty(sizes, DType::boolean, "aten::ne");
    filled = t.empty(sizes, dtype, "aten::masked_fill");
    const Tensor same = t.empty(sizes, DType::boolean, "aten::eq");
    mask = t.empty(sizes, dtype, "aten::masked_fill");
    return mask;
  }

  /// SwinRelativePositionBias
  Tensor biases(Torch& t) const {
    const Tensor rows = t.view(t.index_rows(table_, index_), {area_, area_, -1});
    return t.unsqueeze(t.contiguous(t.permute(rows, {2, 0, 1})), 0);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x, const Tensor& mask) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const std::int64_t head_dim = width_ / heads_;
    const Tensor q = heads_of(t, q_proj_(play, x), head_dim);
    const Tensor k = heads_of(t, k_proj_(play, x), head_dim);
    const Tensor v = heads_of(t, v_proj_(play, x), head_dim);
    const Tensor bias = biases(t);
    Tensor each;
    Tensor combined = bias;
    if (mask) {
      const std::int64_t windows = mask->sizes[0];
      each = t.expand(t.unsqueeze(t.unsqueeze(mask, 1), 0), {x->sizes[0] / windows, windows, 1, area_, area_});
      each = t.reshape(each, {-1, 1, area_, area_});
      combined = t.add(bias, each);
    }
    s.arguments.masks[0] = combined;
    Tensor out = attend(play, s, q, k, v, {.dropout = dropout_, .causal = false, .pictures = true});
    out = t.contiguous(t.reshape(out, {x->sizes[0], x->sizes[1], -1}));
    out = o_proj_(play, out);
    s.arguments.masks[0].reset();
    return out;
  }

  std::int64_t width_;
  std::int64_t heads_;
  std::int64_t window_;
  std::int64_t area_ = 1;
  std::int64_t height_ = 1;   ///< Of the picture, in patches,
  std::int64_t columns_ = 1;  ///< … as is this.
  bool shifts_ = false;
  double dropout_;
  double hidden_dropout_;
  std::int32_t module_;
  Linear q_proj_{}, k_proj_{}, v_proj_{}, o_proj_{};
  Tensor table_{}, index_{};
};

}  // namespace

extern const OpType window_attention;
const OpType window_attention{"window_attention", make_module<WindowAttention>};

}  // namespace oomplan::estimator::ops
