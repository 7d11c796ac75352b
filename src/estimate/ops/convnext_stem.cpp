// ConvNextEmbeddings, and the layers between stages: a convolution whose steps are as wide as its kernel, and a norm
// over channels, after it or before it.
#include "modules/layer_norm.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class ConvnextStem final : public Module {
 public:
  ConvnextStem(const Attributes& a, Builder& b)
      : first_(a.flag("first", false)),
        channels_(a.integer("channels")),
        size_(picture_size(b, a.integer("image_size", 1))) {
    const std::int64_t kernel = a.integer("kernel");
    const std::int64_t width = a.integer("width");
    const std::string m = a.module() + ".";
    const Conv2d::Shape shape{.in = channels_, .out = width, .kernel = kernel, .stride = kernel};
    if (!first_) norm_ = LayerNorm(b, m + "0", channels_);
    convolution_ = Conv2d(b, m + (first_ ? "patch_embeddings" : "1"), shape);
    if (first_) norm_ = LayerNorm(b, m + "layernorm", width);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (first_) send_pixels(t, f, s, {f.batch, channels_, size_.height, size_.width});
  }

  void forward(Play& play, Stream& s) const override {
    if (first_) {
      s.hidden = normed(play, convolution_(play, s.pixels));
      s.inputs_embeds = s.hidden;
    } else {
      s.hidden = convolution_(play, normed(play, s.hidden));
    }
  }

 private:
  Tensor normed(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    return t.permute(norm_(play, t.permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
  }

  bool first_;  ///< Of the model, on pixels; else between two stages.
  std::int64_t channels_;
  PictureSize size_;
  LayerNorm norm_{};
  Conv2d convolution_{};
};

}  // namespace

extern const OpType convnext_stem;
const OpType convnext_stem{"convnext_stem", make_module<ConvnextStem>};

}  // namespace oomplan::estimator::ops
