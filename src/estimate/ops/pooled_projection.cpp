// Gemma3MultiModalProjector: the mean of squares of patches, a norm, and a matrix that is no linear layer.
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

/// torch.nn.AvgPool2d of squares.
Tensor pooled(Torch& t, const Tensor& x, std::int64_t side) {
  NodeRef node = t.record("AvgPool2DBackward0", {&x}, [](Torch& torch, Node& n, Grads& g) {
    const Tensor self = torch.unpack(n, 0);
    g.out[0] = torch.empty(self->sizes, g.in[0]->dtype, "aten::avg_pool2d_backward");
  });
  t.save(node, 0, x);
  const Dims& s = x->sizes;
  return t.attach(node, t.empty({s[0], s[1], s[2] / side, s[3] / side}, x->dtype, "aten::avg_pool2d"));
}

class PooledProjection final : public Module {
 public:
  PooledProjection(const Attributes& a, Builder& b)
      : side_(a.quotient("image_size", "patch_size")), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t tokens = a.integer("tokens");
    std::int64_t kept = 1;
    while ((kept + 1) * (kept + 1) <= tokens) ++kept;
    step_ = std::max<std::int64_t>(side_ / kept, 1);
    weight_ = b.weight(m + "mm_input_projection_weight", {width, a.integer("out")}, Part::matrix);
    norm_ = RmsNorm(b, m + "mm_soft_emb_norm", width, RmsStyle::gemma);
  }

  void forward(Play& play, Stream& s) const override { s.hidden = project(play, s.hidden); }

 private:
  Tensor project(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const std::int64_t rows = x->sizes[0];
    const std::int64_t width = x->sizes[2];
    const Tensor grid = t.contiguous(t.reshape(t.transpose(x, 1, 2), {rows, width, side_, side_}));
    Tensor squares = pooled(t, grid, step_);
    squares = t.transpose(t.view(squares, {rows, width, -1}), 1, 2);
    const Tensor normed = norm_(play, squares);
    const Tensor projected = t.matmul(normed, weight_);
    return t.to(projected, x->dtype);
  }

  std::int64_t side_;
  std::int64_t step_ = 1;
  std::int32_t module_;
  Tensor weight_{};
  RmsNorm norm_{};
};

}  // namespace

extern const OpType pooled_projection;
const OpType pooled_projection{"pooled_projection", make_module<PooledProjection>};

}  // namespace oomplan::estimator::ops
