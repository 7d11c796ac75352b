// SwinEmbeddings: patches of a picture of any size, and a norm.
#include "modules/layer_norm.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"
#include "torch/rolling.hpp"

namespace oomplan::estimator::ops {
namespace {

class WindowStem final : public Module {
 public:
  WindowStem(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")),
        patch_(a.integer("patch_size")),
        width_(a.integer("width")),
        size_(picture_size(b, a.integer("image_size"))) {
    const std::string m = a.module() + ".";
    convolution_ = PatchConvolution(b, m + "patch_embeddings.projection",
                                    saturating_mul(channels_, saturating_mul(patch_, patch_)), width_, true);
    norm_ = LayerNorm(b, m + "norm", width_);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_pixels(t, f, s, {f.batch, channels_, size_.height, size_.width});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Tensor pixels = s.pixels;
    Dims sizes = pixels->sizes;
    for (const int dim : {3, 2}) {
      const std::int64_t whole = saturating_mul(divided_up(sizes[dim], patch_), patch_);
      if (whole == sizes[dim]) continue;
      sizes[dim] = whole;
      pixels = pad_to(t, pixels, sizes);
    }
    const Tensor grid = convolution_(play, pixels, {sizes[0], width_, sizes[2] / patch_, sizes[3] / patch_});
    s.hidden = norm_(play, t.transpose(t.view(grid, {sizes[0], width_, -1}), 1, 2));
  }

 private:
  std::int64_t channels_;
  std::int64_t patch_;
  std::int64_t width_;
  PictureSize size_;
  PatchConvolution convolution_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType window_stem;
const OpType window_stem{"window_stem", make_module<WindowStem>};

}  // namespace oomplan::estimator::ops
