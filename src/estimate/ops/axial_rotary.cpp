// PixtralVisionRotaryEmbedding, Qwen2VLVisionRotaryEmbedding: cos and sin of a patch's place, a part for its row and
// one for its column.
#include "modules/vision.hpp"
#include "oomplan/catalog/older_code.hpp"

namespace oomplan::estimator::ops {
namespace {

class AxialRotary final : public Module {
 public:
  AxialRotary(const Attributes& a, Builder& b)
      : head_dim_(a.quotient("width", "heads")),
        frequencies_(a.flag("all_frequencies", false) ? head_dim_ / 2 : head_dim_ / 4),
        lowered_(a.flag("lowered", false)) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    const Dims table = a.find(older_code) != nullptr ? every_place(a) : Dims{frequencies_};
    inverse_ = b.torch.empty(table, DType::fp32, "buffer");
    original_ = b.torch.empty(table, DType::fp32, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore no_grad(t.grad_enabled, false);
    const std::int64_t patches = s.hidden->numel() / s.hidden->sizes.back();
    s.position_ids = t.empty({patches, 2}, DType::int64, "aten::cat");
    Tensor positions = t.empty({patches, 2, 1}, DType::fp32, "aten::_to_copy");
    const Tensor freqs = t.empty({patches, 2, frequencies_}, DType::fp32, "aten::mul");
    positions.reset();
    Tensor cos = t.mul_scalar(t.pointwise({&freqs}, DType::fp32, "aten::cos"));
    Tensor sin = t.mul_scalar(t.pointwise({&freqs}, DType::fp32, "aten::sin"));
    cos = composed(t, patches);
    sin = composed(t, patches);
    const DType dtype = lowered_ ? s.hidden->dtype : DType::fp32;
    s.arguments.cos[0] = t.to(cos, dtype);
    s.arguments.sin[0] = t.to(sin, dtype);
  }

 private:
  /// transformers 5.14.1: PixtralRotaryEmbedding keeps the angles of every place of the largest picture.
  Dims every_place(const Attributes& a) const {
    const std::int64_t side = a.integer("image_size") / a.integer("patch_size");
    return {saturating_mul(side, side), head_dim_};
  }

  Tensor composed(Torch& t, std::int64_t patches) const {
    const Tensor both = t.empty({1, patches, head_dim_ / 2}, DType::fp32, "aten::cat");
    return t.empty({1, patches, head_dim_}, DType::fp32, "aten::cat");
  }

  std::int64_t head_dim_;
  std::int64_t frequencies_;  ///< Of each of a patch's two numbers.
  bool lowered_;              ///< To the model's dtype.
  Tensor inverse_{}, original_{};
};

}  // namespace

extern const OpType axial_rotary;
const OpType axial_rotary{"axial_rotary", make_module<AxialRotary>};

}  // namespace oomplan::estimator::ops
