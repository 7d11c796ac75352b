// Gemma4UnifiedModel.get_image_features once its embedder has returned: the tokens of all pictures that are no padding.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class RealPatches final : public Module {
 public:
  RealPatches(const Attributes& a, Builder& b) {
    const std::int64_t side = saturating_mul(a.integer("patch_size"), a.integer("pooled"));
    const Grid grid = grid_of(b, side, side);
    real_ = saturating_mul(grid.height, grid.width);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.sent.clear();
    s.pixels.reset();
    const Dims sizes = s.hidden->sizes;
    Tensor each = t.empty({sizes[0], sizes[1], 2}, DType::boolean, "aten::ne");
    const Tensor mask = t.empty({sizes[0], sizes[1]}, DType::boolean, "aten::all");
    each.reset();
    const Tensor index = t.empty({saturating_mul(real_, sizes[0])}, DType::int64, "aten::nonzero");
    s.hidden = t.index_rows(t.view(s.hidden, {-1, sizes[2]}), index);
  }

 private:
  std::int64_t real_ = 1;  ///< Of a picture.
};

}  // namespace

extern const OpType real_patches;
const OpType real_patches{"real_patches", make_module<RealPatches>};

}  // namespace oomplan::estimator::ops
