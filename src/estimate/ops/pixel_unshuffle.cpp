// Lfm2VlMultiModalProjector.pixel_unshuffle: each square of a picture's patches becomes one, as many times as wide, and
// is normed where the family has a norm there. Pictures go through it one by one, without the patches that they were
// filled up with; they are all of one size here.
#include "modules/layer_norm.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class PixelUnshuffle final : public Module {
 public:
  PixelUnshuffle(const Attributes& a, Builder& b) : factor_(a.integer("factor")) {
    const std::int64_t patch = a.integer("patch_size");
    grid_ = grid_of(b, patch, saturating_mul(patch, factor_));
    const std::int64_t width = saturating_mul(a.integer("width"), saturating_mul(factor_, factor_));
    if (a.flag("normed", true)) norm_ = LayerNorm(b, a.module() + ".layer_norm", width);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t pictures = s.hidden->sizes[0];
    const std::int64_t width = s.hidden->sizes[2] * factor_;
    const std::int64_t rows = grid_.height;
    const std::int64_t columns = std::max<std::int64_t>(grid_.width / factor_, 1);
    const std::int64_t patches = saturating_mul(grid_.height, grid_.width);
    const bool filled = patches < s.hidden->sizes[1];
    Tensor x = filled ? t.slice(s.hidden, 1, 0, patches) : s.hidden;
    x = t.reshape(x, {pictures, rows, columns, width});
    x = t.reshape(t.permute(x, {0, 2, 1, 3}), {pictures, columns, rows / factor_, width * factor_});
    x = t.permute(x, {0, 2, 1, 3});
    s.hidden = norm_ ? norm_(play, x) : x;
  }

 private:
  std::int64_t factor_;
  Grid grid_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType pixel_unshuffle;
const OpType pixel_unshuffle{"pixel_unshuffle", make_module<PixelUnshuffle>};

}  // namespace oomplan::estimator::ops
