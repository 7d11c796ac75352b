// SwinLayer.forward between its first norm and its residual: patches attend within windows, which every second layer
// moves by half a window, with a table of their own for the distances. Its variables live until the layer returns;
// `normed` is the padded picture, which it has no more once the residual is added.
#include "modules/attention_core.hpp"
#include "modules/linear.hpp"
#include "modules/vision.hpp"
#include "modules/windows.hpp"
#include "torch/rolling.hpp"

namespace oomplan::estimator::ops {
namespace {

class WindowAttention final : public Module {
 public:
  WindowAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")),
        dropout_(a.number("dropout", 0.0)),
        hidden_dropout_(a.number("hidden_dropout", 0.0)),
        module_(b.module_id(a.module())) {
    const std::int64_t step = a.integer("step");
    const PictureSize size = picture_size(b, a.integer("image_size"));
    const std::int64_t width = a.integer("width");
    windows_ = {.side = a.integer("window"),
                .height = divided_up(size.height, step),
                .columns = divided_up(size.width, step),
                .width = width};
    const std::int64_t less = std::min(windows_.height, windows_.columns);
    if (less < windows_.side) {
      refuse_images(b, "a picture of fewer patches than a window has no biases of its size",
                    "set image_height and image_width.");
    }
    windows_.moved = a.flag("shifts", false) && less > windows_.side;
    const std::string m = a.module() + ".";
    const bool bias = a.flag("bias", true);
    q_proj_ = Linear(b, m + "q_proj", width, width, bias);
    k_proj_ = Linear(b, m + "k_proj", width, width, bias);
    v_proj_ = Linear(b, m + "v_proj", width, width, bias);
    o_proj_ = Linear(b, m + "o_proj", width, width, true);
    const std::int64_t distances = saturating_mul(2 * windows_.side - 1, 2 * windows_.side - 1);
    table_ = b.weight(m + "relative_position_bias.relative_position_bias_table", {distances, heads_}, Part::embedding);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    index_ = b.torch.empty({saturating_mul(windows_.area(), windows_.area())}, DType::int64, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t rows = s.hidden->sizes[0];
    s.hidden = windows_.padded(t, s.hidden);
    s.normed = s.hidden;
    if (windows_.moved) s.hidden = roll_twice(t, s.normed);
    s.hidden = windows_.parted(t, s.hidden);
    const Tensor mask = windows_.moved ? windows_.regions(t, s.normed->dtype) : Tensor();
    s.streams.held.push_back(s.hidden);
    s.streams.held.push_back(mask);
    s.hidden = attention(play, s, s.streams.held.front(), mask);
    s.hidden = t.dropout(s.hidden, hidden_dropout_);
    s.streams.held.push_back(s.hidden);
    s.hidden = windows_.joined(t, s.hidden, rows);
    if (windows_.moved) s.hidden = roll_twice(t, s.hidden);
    s.hidden = windows_.cut(t, std::exchange(s.hidden, {}));
    s.streams.held.push_back(s.hidden);
  }

 private:
  /// SwinRelativePositionBias
  Tensor biases(Torch& t) const {
    const std::int64_t area = windows_.area();
    const Tensor rows = t.view(t.index_rows(table_, index_), {area, area, -1});
    return t.unsqueeze(t.contiguous(t.permute(rows, {2, 0, 1})), 0);
  }

  Tensor attention(Play& play, Stream& s, const Tensor& x, const Tensor& mask) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const std::int64_t head_dim = windows_.width / heads_;
    const std::int64_t area = windows_.area();
    const Tensor q = heads_of(t, q_proj_(play, x), head_dim);
    const Tensor k = heads_of(t, k_proj_(play, x), head_dim);
    const Tensor v = heads_of(t, v_proj_(play, x), head_dim);
    const Tensor bias = biases(t);
    Tensor each;
    Tensor combined = bias;
    if (mask) {
      const std::int64_t windows = mask->sizes[0];
      each = t.expand(t.unsqueeze(t.unsqueeze(mask, 1), 0), {x->sizes[0] / windows, windows, 1, area, area});
      each = t.reshape(each, {-1, 1, area, area});
      combined = t.add(bias, each);
    }
    s.arguments.masks[0] = combined;
    Tensor out = attend(play, s, q, k, v, {.dropout = dropout_, .causal = false, .pictures = true});
    out = t.contiguous(t.reshape(out, {x->sizes[0], x->sizes[1], -1}));
    out = o_proj_(play, out);
    s.arguments.masks[0].reset();
    return out;
  }

  std::int64_t heads_;
  Windows windows_{};
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
