// Gemma4TextModel.project_per_layer_inputs: a projection of the main embedding beside that of all layers.
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class PerLayerInputs final : public Module {
 public:
  PerLayerInputs(const Attributes& a, Builder& b)
      : projection_(b, a.module() + ".per_layer_model_projection", a.integer("width"),
                    saturating_mul(a.integer("layers"), a.integer("each")), false),
        norm_(b, a.module() + ".per_layer_projection_norm", a.integer("each"), RmsStyle::raised),
        in_place_(a.flag("in_place", false)) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Tensor projected = projection_(play, s.inputs_embeds);
    if (!in_place_) projected = t.mul_scalar(projected);
    projected = norm_(play, t.view(projected, s.per_layer_inputs->sizes));
    s.per_layer_inputs = t.mul_scalar(t.add(projected, s.per_layer_inputs));
  }

 private:
  Linear projection_;
  RmsNorm norm_;
  bool in_place_;  ///< Gemma 3n multiplies the projection in place.
};

}  // namespace

extern const OpType per_layer_inputs;
const OpType per_layer_inputs{"per_layer_inputs", make_module<PerLayerInputs>};

}  // namespace oomplan::estimator::ops
