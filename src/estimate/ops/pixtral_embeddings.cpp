// PixtralVisionModel before its layers: patches of all pictures in one row, and a mask that keeps pictures apart.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class PixtralEmbeddings final : public Module {
 public:
  PixtralEmbeddings(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")),
        patch_(a.integer("patch_size")),
        width_(a.integer("width")),
        grid_(grid_of(b, patch_, patch_)),
        convolution_(b, a.module(), saturating_mul(channels_, saturating_mul(patch_, patch_)), width_, false) {}

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_pixels(t, f, s, {tiles_of(f), channels_, f.images.height, f.images.width});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    const std::int64_t images = tiles_of(f);
    const Tensor patches = convolution_(play, s.pixels, {images, width_, grid_.height, grid_.width});
    ask_for_gradient(f, patches);
    s.sent.push_back(patches);  // patch_embeds_list holds views of it.
    const std::int64_t rows = saturating_mul(images, saturating_mul(grid_.height, grid_.width));
    s.hidden = t.unsqueeze(cat_of_parts(t, patches, {rows, width_}), 0);
  }

 private:
  std::int64_t channels_;
  std::int64_t patch_;
  std::int64_t width_;
  Grid grid_;
  PatchConvolution convolution_;
};

}  // namespace

extern const OpType pixtral_embeddings;
const OpType pixtral_embeddings{"pixtral_embeddings", make_module<PixtralEmbeddings>};

}  // namespace oomplan::estimator::ops
