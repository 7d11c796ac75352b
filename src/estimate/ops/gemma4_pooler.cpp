// Gemma4VisionPooler, and what Gemma4VisionModel.forward makes of its output: the mean of squares of patches by a
// product with their places, scaled in fp32, of which those that are no padding go on.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class Gemma4Pooler final : public Module {
 public:
  Gemma4Pooler(const Attributes& a, Builder& b) : tokens_(a.integer("tokens")) {
    const std::int64_t patch = a.integer("patch_size");
    const std::int64_t pooled = a.integer("pooled");
    const Grid grid = grid_of(b, patch, saturating_mul(patch, pooled));
    real_ = std::max<std::int64_t>(grid.height / pooled * (grid.width / pooled), 1);
    if (!a.flag("standardized", false)) return;
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    for (Tensor* one : {&bias_, &scale_}) *one = b.torch.empty({a.integer("width")}, b.facts.weights, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.arguments = {};  // The encoder has returned, whose output lives on.
    s.sent.push_back(s.hidden);
    Tensor hidden = scaled(t, s);
    const Tensor index = t.empty({saturating_mul(real_, hidden->sizes[0])}, DType::int64, "aten::nonzero");
    hidden = t.index_rows(t.view(hidden, {-1, hidden->sizes[2]}), index);
    if (bias_) hidden = standardized(t, hidden);
    s.hidden = t.to(hidden, s.inputs_embeds->dtype);
  }

 private:
  Tensor scaled(Torch& t, const Stream& s) const {
    Tensor hidden = t.masked_fill(s.hidden, t.unsqueeze(s.position_mask, 2));
    hidden = pooled(t, hidden);
    return t.mul_scalar(t.to(hidden, DType::fp32));
  }

  /// _avg_pool_by_positions
  Tensor pooled(Torch& t, const Tensor& hidden) const {
    const std::int64_t pictures = hidden->sizes[0];
    const std::int64_t patches = hidden->sizes[1];
    const Tensor clamped = t.empty({pictures, patches, 2}, DType::int64, "aten::clamp");
    Tensor squares = t.empty({pictures, patches, 2}, DType::int64, "aten::div");
    squares = t.empty({pictures, patches}, DType::int64, "aten::add");
    const Dims places{pictures, patches, tokens_};
    Tensor weights;
    {
      const Tensor hot = t.empty(places, DType::int64, "aten::one_hot");
      const Tensor raised = t.empty(places, DType::fp32, "aten::_to_copy");
      weights = t.empty(places, DType::fp32, "aten::div");
    }
    const Tensor means = t.matmul(t.transpose(weights, 1, 2), t.to(hidden, DType::fp32));
    const Tensor without = t.empty(places, DType::boolean, "aten::eq");
    return t.to(means, hidden->dtype);
  }

  Tensor standardized(Torch& t, const Tensor& x) const {
    const Tensor moved = t.sub(x, t.to(bias_, DType::fp32));
    return t.mul(moved, t.to(scale_, DType::fp32));
  }

  std::int64_t tokens_;    ///< That a picture has room for.
  std::int64_t real_ = 1;  ///< That it is.
  Tensor bias_{}, scale_{};
};

}  // namespace

extern const OpType gemma4_pooler;
const OpType gemma4_pooler{"gemma4_pooler", make_module<Gemma4Pooler>};

}  // namespace oomplan::estimator::ops
