// Gemma4VisionRotaryEmbedding: cos and sin of a patch's two numbers, each number's twice.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class Gemma4VisionRotary final : public Module {
 public:
  Gemma4VisionRotary(const Attributes& a, Builder& b) : frequencies_(a.integer("head_dim") / 4) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    inverse_ = b.torch.empty({frequencies_}, DType::fp32, "buffer");
    original_ = b.torch.empty({frequencies_}, DType::fp32, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore no_grad(t.grad_enabled, false);
    const std::int64_t pictures = s.hidden->sizes[0];
    const std::int64_t patches = s.hidden->sizes[1];
    Tensor places = t.empty({pictures, patches, 2, 1}, DType::fp32, "aten::_to_copy");
    const Tensor freqs = t.empty({pictures, patches, 2, frequencies_}, DType::fp32, "aten::mul");
    places.reset();
    Tensor cos = t.mul_scalar(t.pointwise({&freqs}, DType::fp32, "aten::cos"));
    Tensor sin = t.mul_scalar(t.pointwise({&freqs}, DType::fp32, "aten::sin"));
    cos = composed(t, pictures, patches);
    sin = composed(t, pictures, patches);
    s.arguments.cos[0] = t.to(cos, s.hidden->dtype);
    s.arguments.sin[0] = t.to(sin, s.hidden->dtype);
  }

 private:
  Tensor composed(Torch& t, std::int64_t pictures, std::int64_t patches) const {
    return t.empty({pictures, patches, 4 * frequencies_}, DType::fp32, "aten::cat");
  }

  std::int64_t frequencies_;  ///< Of each of a patch's two numbers.
  Tensor inverse_{}, original_{};
};

}  // namespace

extern const OpType gemma4_vision_rotary;
const OpType gemma4_vision_rotary{"gemma4_vision_rotary", make_module<Gemma4VisionRotary>};

}  // namespace oomplan::estimator::ops
