// The first half of DaViT's two blocks (Florence2VisionSpatialBlock, Florence2VisionChannelBlock): a convolution of
// each channel alone, and attention of patches within windows (`window`) or of channels within groups (`groups`).
#include "modules/attention_core.hpp"
#include "modules/davit.hpp"
#include "modules/linear.hpp"
#include "modules/windows.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr AttentionKind whole{.causal = false, .softmax = Softmax::as_is, .pictures = true};

class DavitAttention final : public Module {
 public:
  DavitAttention(const Attributes& a, Builder& b)
      : half_(a, b, "conv1", "norm1"),
        width_(a.integer("width")),
        window_(a.integer("window", 0)),
        groups_(a.integer(window_ > 0 ? "heads" : "groups")) {
    const std::string m = a.module() + (window_ > 0 ? ".window_attn" : ".channel_attn");
    module_ = b.module_id(m);
    qkv_ = Linear(b, m + ".qkv", width_, saturating_mul(3, width_), a.flag("bias", true));
    proj_ = Linear(b, m + ".proj", width_, width_, true);
  }

  void forward(Play& play, Stream& s) const override {
    const std::int64_t height = s.hidden->sizes[2];
    const std::int64_t columns = s.hidden->sizes[3];
    s.streams.held.push_back(s.hidden);  // Of Florence2VisionBlock.forward, or of its caller.
    half_(play, s, [&](const Tensor& x) {
      Restore module(play.torch.recorder.scope.module, std::int32_t{module_});
      return window_ > 0 ? of_windows(play, s, x, {window_, height, columns, width_}) : of_channels(play, s, x);
    });
  }

 private:
  /// q, k and v of rows × tokens × 3 · width, their parts in this order.
  std::vector<Tensor> parts_of(Play& play, const Tensor& x, const Dims& order) const {
    Torch& t = play.torch;
    const Tensor qkv = t.reshape(qkv_(play, x), {x->sizes[0], x->sizes[1], 3, groups_, width_ / groups_});
    return t.unbind(t.permute(qkv, order), 0);
  }

  Tensor of_windows(Play& play, Stream& s, const Tensor& x, const Windows& windows) const {
    Torch& t = play.torch;
    const std::int64_t rows = x->sizes[0];
    const Tensor padded = windows.padded(t, x);
    Tensor parted = windows.parted(t, padded);
    const std::vector<Tensor> qkv = parts_of(play, parted, {2, 0, 3, 1, 4});
    parted = attend(play, s, qkv[0], qkv[1], qkv[2], whole);
    parted = t.view(parted, {parted->sizes[0], parted->sizes[1], width_});
    parted = proj_(play, parted);
    const Tensor out = windows.cut(t, windows.joined(t, parted, rows));
    s.attn_weights.reset();
    return out;
  }

  Tensor of_channels(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    const std::vector<Tensor> qkv = parts_of(play, x, {2, 0, 3, 4, 1});
    Tensor out = attend(play, s, qkv[0], qkv[1], qkv[2], whole);
    out = t.reshape(t.permute(out, {0, 3, 2, 1}), {x->sizes[0], x->sizes[1], width_});
    out = proj_(play, out);
    s.attn_weights.reset();
    return out;
  }

  DavitHalf half_;
  std::int64_t width_;
  std::int64_t window_;
  std::int64_t groups_;
  std::int32_t module_ = -1;
  Linear qkv_{}, proj_{};
};

}  // namespace

extern const OpType davit_attention;
const OpType davit_attention{"davit_attention", make_module<DavitAttention>};

}  // namespace oomplan::estimator::ops
