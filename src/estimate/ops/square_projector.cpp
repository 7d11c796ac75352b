// PaddleOCRProjector: of each picture by itself a norm, its squares of patches side by side, and two linear layers.
#include "modules/activation.hpp"
#include "modules/layer_norm.hpp"
#include "modules/linear.hpp"
#include "modules/vision.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class SquareProjector final : public Module {
 public:
  SquareProjector(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        side_(a.integer("merge")),
        grid_(grid_of(b, a.integer("patch_size"), saturating_mul(a.integer("patch_size"), side_))),
        activation_(find_activation("gelu", b)) {
    constexpr std::int64_t most_pictures = 4096;
    if (saturating_mul(b.facts.batch, b.facts.images.count) > most_pictures)
      a.unmodelled("so many pictures, which are projected one by one");
    const std::string m = a.module() + ".";
    const std::int64_t square = saturating_mul(width_, saturating_mul(side_, side_));
    norm_ = LayerNorm(b, m + "pre_norm", width_);
    first_ = Linear(b, m + "linear_1", square, square, true);
    second_ = Linear(b, m + "linear_2", square, a.integer("out"), true);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t patches = saturating_mul(grid_.height, grid_.width);
    std::vector<Tensor> done;
    for (const Tensor& picture : split_all(t, s.hidden, patches)) done.push_back(projected(play, picture));
    s.hidden = cat_all(t, done, 0);
  }

 private:
  Tensor projected(Play& play, const Tensor& picture) const {
    Torch& t = play.torch;
    Tensor x = norm_(play, picture);
    x = t.reshape(x, {grid_.height / side_, side_, grid_.width / side_, side_, width_});
    x = t.reshape(t.transpose(x, 1, 2), {-1, side_ * side_ * width_});
    Tensor hidden = first_(play, x);
    hidden = activation_(t, hidden);
    return second_(play, hidden);
  }

  std::int64_t width_;
  std::int64_t side_;
  Grid grid_;
  Activation activation_;
  LayerNorm norm_{};
  Linear first_{}, second_{};
};

}  // namespace

extern const OpType square_projector;
const OpType square_projector{"square_projector", make_module<SquareProjector>};

}  // namespace oomplan::estimator::ops
