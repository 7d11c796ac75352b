// torch.nn.LayerNorm as a step of its own; `raised`: OLMo's, in fp32 and back.
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class LayerNormStep final : public Module {
 public:
  LayerNormStep(const Attributes& a, Builder& b)
      : norm_(b, a.module(), a.integer("width"), affine(a)), raised_(a.flag("raised", false)) {}
  void forward(Play& play, Stream& s) const override {
    if (!raised_) {
      s.hidden = norm_(play, s.hidden);
      return;
    }
    const DType dtype = s.hidden->dtype;
    const Tensor normed = norm_(play, play.torch.to(s.hidden, DType::fp32));
    s.hidden = play.torch.to(normed, dtype);
  }

 private:
  static Affine affine(const Attributes& a) {
    if (!a.flag("affine", true)) return Affine::none;
    return a.flag("bias", true) ? Affine::weight_and_bias : Affine::weight;
  }

  LayerNorm norm_;
  bool raised_;
};

}  // namespace

extern const OpType layer_norm;
const OpType layer_norm{"layer_norm", make_module<LayerNormStep>};

}  // namespace oomplan::estimator::ops
