// Mistral3PatchMerger: each square of patches, unfolded, becomes one by a linear layer.
#include "modules/linear.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class PatchMerger final : public Module {
 public:
  PatchMerger(const Attributes& a, Builder& b)
      : side_(a.integer("side")),
        grid_(grid_of(b, a.integer("patch_size"), saturating_mul(a.integer("patch_size"), side_))),
        merging_(b, a.module(), saturating_mul(a.integer("width"), saturating_mul(side_, side_)), a.integer("width"),
                 false) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t images = tiles_of(play.facts);
    const std::int64_t merged = (grid_.height / side_) * (grid_.width / side_);
    const Tensor squares = unfolded(t, s.hidden, images, merged);
    s.hidden = merging_(play, squares);
  }

 private:
  /// torch.nn.functional.unfold of each picture (im2col), the squares of all put together.
  Tensor unfolded(Torch& t, const Tensor& x, std::int64_t images, std::int64_t merged) const {
    const Tensor parts = col2im(t, x);
    return cat_of_parts(t, parts, {saturating_mul(images, merged), merging_.in_width()});
  }

  static Tensor col2im(Torch& t, const Tensor& x) {
    NodeRef node = t.record("Im2ColBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
      // col2im of each picture, then the gradient of split(): all of them put together.
      const Tensor parts = torch.empty(n.dims, g.in[0]->dtype, "aten::col2im");
      g.out[0] = torch.empty(n.dims, g.in[0]->dtype, "aten::cat");
    });
    if (node) node->dims = x->sizes;
    return t.attach(node, t.empty(x->sizes, x->dtype, "aten::im2col"));
  }

  std::int64_t side_;
  Grid grid_;
  Linear merging_;
};

}  // namespace

extern const OpType patch_merger;
const OpType patch_merger{"patch_merger", make_module<PatchMerger>};

}  // namespace oomplan::estimator::ops
