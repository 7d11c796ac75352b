// Gemma4TextDecoderLayer: a gate of the hidden states times the layer's own input, projected, normed and added.
#include "modules/activation.hpp"
#include "modules/linear.hpp"
#include "modules/rms_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class AddPerLayerInput final : public Module {
 public:
  AddPerLayerInput(const Attributes& a, Builder& b)
      : activation_(find_activation(a.text("activation", "gelu_pytorch_tanh"), b)),
        gate_(b, "per_layer_input_gate", a.integer("width"), a.integer("each"), false),
        projection_(b, "per_layer_projection", a.integer("each"), a.integer("width"), false),
        norm_(b, "post_per_layer_input_norm", a.integer("width"), RmsStyle::raised) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.residual = s.hidden;
    s.hidden = gate_(play, s.hidden);
    s.hidden = activation_(t, s.hidden);
    s.hidden = t.mul(s.hidden, s.arguments.per_layer);
    s.hidden = projection_(play, s.hidden);
    s.hidden = norm_(play, s.hidden);
    s.hidden = t.add(s.residual, s.hidden);
  }

 private:
  Activation activation_;
  Linear gate_, projection_;
  RmsNorm norm_;
};

}  // namespace

extern const OpType add_per_layer_input;
const OpType add_per_layer_input{"add_per_layer_input", make_module<AddPerLayerInput>};

}  // namespace oomplan::estimator::ops
