// Florence2VisionConvEmbed, which each stage of DaViT begins with: a convolution, after a norm of what comes in or
// before one of what it makes (`first`: that takes the pictures).
#include "modules/layer_norm.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class DavitStem final : public Module {
 public:
  DavitStem(const Attributes& a, Builder& b)
      : first_(a.flag("first", false)),
        norm_first_(a.flag("norm_first", !first_)),
        channels_(a.integer("channels")),
        size_(picture_size(b, a.integer("image_size", 1))) {
    const std::int64_t width = a.integer("width");
    convolution_ = Conv2d(b, a.module() + ".conv",
                          {.in = channels_,
                           .out = width,
                           .kernel = a.integer("kernel"),
                           .stride = a.integer("stride"),
                           .padding = a.count("padding")});
    norm_ = LayerNorm(b, a.module() + ".norm", norm_first_ ? channels_ : width);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (first_) send_pixels(t, f, s, {f.batch, channels_, size_.height, size_.width});
  }

  void forward(Play& play, Stream& s) const override {
    const Tensor before = s.hidden;  // The caller's.
    Tensor& x = s.hidden;
    if (first_) x = play.torch.to(s.pixels, convolution_.dtype());
    if (norm_first_) x = normed(play, x);
    x = convolution_(play, x);
    if (!norm_first_) x = normed(play, x);
  }

 private:
  Tensor normed(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    return t.permute(norm_(play, t.permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
  }

  bool first_;
  bool norm_first_;
  std::int64_t channels_;
  PictureSize size_;
  Conv2d convolution_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType davit_stem;
const OpType davit_stem{"davit_stem", make_module<DavitStem>};

}  // namespace oomplan::estimator::ops
