// Glm4vVisionModel.downsample: each square of patches, whose rows stand one after the other, becomes one by a
// convolution as wide as the square.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class Downsample final : public Module {
 public:
  Downsample(const Attributes& a, Builder& b)
      : width_(a.integer("width")),
        out_(a.integer("out")),
        side_(a.integer("merge")),
        convolution_(b, a.module(), saturating_mul(width_, saturating_mul(side_, side_)), out_, true) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor squares = t.permute(t.view(s.hidden, {-1, side_, side_, width_}), {0, 3, 1, 2});
    s.hidden = t.view(convolution_(play, squares, {squares->sizes[0], out_, 1, 1}), {-1, out_});
  }

 private:
  std::int64_t width_;
  std::int64_t out_;
  std::int64_t side_;
  PatchConvolution convolution_;
};

}  // namespace

extern const OpType downsample;
const OpType downsample{"downsample", make_module<Downsample>};

}  // namespace oomplan::estimator::ops
