// The end of SwinStage.forward: each square of four patches becomes one by a norm and a linear layer
// (SwinPatchMerging), but after the last stage. Until the next stage is done, the encoder has a name for a copy of what
// is left, with channels first; Swin v2 (`second`) has one for what was there before, and its norm comes last.
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/pictures.hpp"
#include "torch/rolling.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class MergePatches final : public Module {
 public:
  MergePatches(const Attributes& a, Builder& b)
      : last_(a.flag("last", false)), second_(a.flag("second", false)), width_(a.integer("width")) {
    const PictureSize size = picture_size(b, a.integer("image_size"));
    height_ = divided_up(size.height, a.integer("step"));
    columns_ = divided_up(size.width, a.integer("step"));
    if (last_) return;
    reduction_ = Linear(b, a.module() + ".reduction", 4 * width_, 2 * width_, false);
    norm_ = LayerNorm(b, a.module() + ".norm", second_ ? 2 * width_ : 4 * width_);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor before = s.hidden;
    if (!last_) s.hidden = merged(play, before);
    if (second_) {
      s.seen.kept = {s.hidden, before};
      return;
    }
    const std::int64_t height = last_ ? height_ : divided_up(height_, 2);
    const std::int64_t columns = last_ ? columns_ : divided_up(columns_, 2);
    const Tensor grid = t.view(s.hidden, {s.hidden->sizes[0], height, columns, -1});
    const Tensor copy = t.contiguous(t.permute(grid, {0, 3, 1, 2}));
    s.seen.kept = {s.hidden, copy};
  }

 private:
  Tensor merged(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    Tensor feature = t.view(x, {x->sizes[0], height_, columns_, width_});
    if (height_ % 2 == 1 || columns_ % 2 == 1) {
      feature = pad_to(t, feature, {x->sizes[0], height_ + height_ % 2, columns_ + columns_ % 2, width_});
    }
    feature = corners(t, feature);
    feature = t.view(feature, {x->sizes[0], -1, 4 * width_});
    if (!second_) feature = norm_(play, feature);
    feature = reduction_(play, feature);
    return second_ ? norm_(play, feature) : feature;
  }

  static Tensor corners(Torch& t, const Tensor& x) {
    std::vector<Tensor> parts;
    for (const int column : {0, 1})
      for (const int row : {0, 1}) parts.push_back(every_second(t, every_second(t, x, 1, row), 2, column));
    return cat_all(t, parts, 3);
  }

  bool last_;
  bool second_;
  std::int64_t width_;
  std::int64_t height_ = 1;
  std::int64_t columns_ = 1;
  Linear reduction_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType merge_patches;
const OpType merge_patches{"merge_patches", make_module<MergePatches>};

}  // namespace oomplan::estimator::ops
