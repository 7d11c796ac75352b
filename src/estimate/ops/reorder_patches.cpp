// Qwen2.5-VL: squares of patches in the order of windows (permute_input_for_window_attn), with their places; and, where
// it comes back (`back`), features in the pictures' own order.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class ReorderPatches final : public Module {
 public:
  ReorderPatches(const Attributes& a, Builder&)
      : square_(a.integer("merge") * a.integer("merge")), back_(a.flag("back", false)) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    if (back_) {
      s.hidden = t.index_rows(s.hidden, t.empty({s.hidden->sizes[0]}, DType::int64, "aten::argsort"));
      return;
    }
    s.hidden = reordered(t, s.hidden);
    if (!s.arguments.cos[0]) return;
    Restore no_grad(t.grad_enabled, false);
    for (Tensor* of : {&s.arguments.cos[0], &s.arguments.sin[0]}) {
      const Dims sizes = (*of)->sizes;
      *of = t.view(reordered(t, t.view(*of, {sizes[1], sizes[2]})), sizes);
    }
  }

 private:
  Tensor reordered(Torch& t, const Tensor& x) const {
    const std::int64_t squares = x->sizes[0] / square_;
    const Tensor index = t.empty({squares}, DType::int64, "aten::to");
    const Tensor out = t.index_rows(t.view(x, {squares, square_, x->sizes[1]}), index);
    return t.view(out, {x->sizes[0], x->sizes[1]});
  }

  std::int64_t square_;
  bool back_;
};

}  // namespace

extern const OpType reorder_patches;
const OpType reorder_patches{"reorder_patches", make_module<ReorderPatches>};

}  // namespace oomplan::estimator::ops
