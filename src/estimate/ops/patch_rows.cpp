// Qwen2-VL's PatchEmbed: rows of pixels, one for each patch, of which those of all pictures stand one after the other.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class PatchRows final : public Module {
 public:
  PatchRows(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        patch_(a.integer("patch_size")),
        numbers_(
            saturating_mul(saturating_mul(a.integer("channels"), a.integer("frames")), saturating_mul(patch_, patch_))),
        grid_(grid_of(b, patch_, saturating_mul(patch_, a.integer("merge")))),
        convolution_(b, a.module(), numbers_, width_, a.flag("bias", false)),
        found_(a.flag("found", true)) {}

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_pixels(t, f, s, {rows(f), numbers_});
    if (f.images.token_types) s.sent.push_back(t.empty({f.batch, f.length}, DType::int64, "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor made = convolution_(play, s.pixels, {rows(play.facts), width_, 1, 1, 1});
    s.hidden = t.view(made, {-1, width_});
    if (found_) ask_for_gradient(play.facts, s.hidden);
  }

 private:
  std::int64_t rows(const Facts& f) const {
    return saturating_mul(tiles_of(f), saturating_mul(grid_.height, grid_.width));
  }

  std::int64_t width_;
  std::int64_t patch_;
  std::int64_t numbers_;  ///< Of a patch.
  Grid grid_;
  PatchConvolution convolution_;
  bool found_;  ///< By enable_input_require_grads, as the embedding of its class.
};

}  // namespace

extern const OpType patch_rows;
const OpType patch_rows{"patch_rows", make_module<PatchRows>};

}  // namespace oomplan::estimator::ops
