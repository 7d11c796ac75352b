// Glm4vVisionEmbeddings: a square grid of learned positions, of which torch.nn.functional.grid_sample takes one for
// each patch, in fp32.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class SampledPositions final : public Module {
 public:
  SampledPositions(const Attributes& a, Builder& b)
      : width_(a.integer("width")), side_(a.integer("image_size") / a.integer("patch_size")) {
    weight_ = b.embedding(a.module(), {saturating_mul(side_, side_), width_});
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t patches = s.hidden->sizes[0];
    const Tensor square = t.permute(t.view(weight_, {side_, side_, width_}), {2, 0, 1});
    const Tensor positions = t.to(t.unsqueeze(square, 0), DType::fp32);
    const Tensor token_positions = t.empty({patches}, DType::int64, "aten::arange");
    const Tensor picture = t.empty({patches}, DType::int64, "aten::sum");
    const Tensor heights = t.empty({patches}, DType::fp32, "aten::_to_copy");
    const Tensor widths = t.empty({patches}, DType::fp32, "aten::_to_copy");
    const Tensor across = t.empty({patches}, DType::fp32, "aten::sub");
    const Tensor down = t.empty({patches}, DType::fp32, "aten::sub");
    const Tensor grid = t.empty({1, patches, 1, 2}, DType::fp32, "aten::stack");
    const Tensor sampled = t.permute(t.view(sample(t, positions, grid), {width_, patches}), {1, 0});
    const Tensor adapted = t.to(sampled, weight_->dtype);
    s.hidden = t.add(s.hidden, adapted);
  }

 private:
  /// derivatives.yaml: grid_sampler_2d_backward; the grid asks for no gradient.
  static Tensor sample(Torch& t, const Tensor& positions, const Tensor& grid) {
    NodeRef node = t.record("GridSampler2DBackward0", {&positions}, [](Torch& torch, Node& n, Grads& g) {
      const Tensor input = torch.unpack(n, 0);
      const Tensor where = torch.unpack(n, 1);
      g.out[0] = torch.pointwise({&input}, DType::fp32, "aten::zeros_like");
    });
    t.save(node, 0, positions);
    t.save(node, 1, grid);
    const Dims sizes{1, positions->sizes[1], grid->sizes[1], 1};
    return t.attach(node, t.empty(sizes, DType::fp32, "aten::grid_sampler_2d"));
  }

  std::int64_t width_;
  std::int64_t side_;  ///< Of the grid.
  Tensor weight_{};
};

}  // namespace

extern const OpType sampled_positions;
const OpType sampled_positions{"sampled_positions", make_module<SampledPositions>};

}  // namespace oomplan::estimator::ops
