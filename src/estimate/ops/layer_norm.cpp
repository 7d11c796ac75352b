// torch.nn.LayerNorm as a step of its own.
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class LayerNormStep final : public Module {
 public:
  LayerNormStep(const Attributes& a, Builder& b) : norm_(b, a.module(), a.integer("width"), affine(a)) {}
  void forward(Play& play, Stream& s) const override { s.hidden = norm_(play, s.hidden); }

 private:
  static Affine affine(const Attributes& a) {
    if (!a.flag("affine", true)) return Affine::none;
    return a.flag("bias", true) ? Affine::weight_and_bias : Affine::weight;
  }

  LayerNorm norm_;
};

}  // namespace

extern const OpType layer_norm;
const OpType layer_norm{"layer_norm", make_module<LayerNormStep>};

}  // namespace oomplan::estimator::ops
