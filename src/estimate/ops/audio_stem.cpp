// WhisperEncoder.forward before its layers: two convolutions over the features of a clip, the second of which halves
// their length, and positions that are frozen.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

void convolution_backward(Torch& t, Node& n, Grads& g) {
  const Tensor x = t.unpack(n, 0);
  const Tensor weight = t.unpack(n, 1);
  const char* op = "aten::convolution_backward";
  if (n.needs(0)) g.out[0] = t.empty(x->sizes, x->dtype, op);
  if (n.needs(1)) g.out[1] = t.empty(weight->sizes, weight->dtype, op);
  if (n.needs(2)) g.out[2] = t.empty({weight->sizes[0]}, weight->dtype, op);
}

class AudioStem final : public Module {
 public:
  AudioStem(const Attributes& a, Builder& b)
      : frames_(a.integer("frames")), dropout_(a.number("dropout", 0.0)), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    first_ = {b.weight(m + "conv1.weight", {width, a.integer("bins"), 3}, Part::matrix),
              b.weight(m + "conv1.bias", {width}, Part::bias)};
    second_ = {b.weight(m + "conv2.weight", {width, width, 3}, Part::matrix),
               b.weight(m + "conv2.bias", {width}, Part::bias)};
    positions_ = b.frozen(m + "embed_positions.weight", {frames_, width}, Part::embedding);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    Tensor embeds = convolution(t, t.view(s.input_ids, {play.facts.batch, -1, saturating_mul(2, frames_)}), first_,
                                saturating_mul(2, frames_));
    if (play.facts.input_grads) embeds->requires_grad = true;
    embeds = t.gelu(embeds);
    embeds = t.gelu(convolution(t, embeds, second_, frames_));
    s.inputs_embeds = t.permute(embeds, {0, 2, 1});
    embeds.reset();
    s.position_ids = t.empty({frames_}, DType::int64, "aten::arange");
    s.hidden = t.add(s.inputs_embeds, t.embedding(positions_, s.position_ids));
    s.hidden = t.dropout(s.hidden, dropout_);
  }

 private:
  struct Weights {
    Tensor weight{};
    Tensor bias{};
  };

  static Tensor convolution(Torch& t, const Tensor& input, const Weights& weights, std::int64_t length) {
    const Tensor bias = t.lowered(weights.bias);
    const Tensor weight = t.lowered(weights.weight);
    const Tensor x = t.lowered(input);
    NodeRef node = t.record("ConvolutionBackward0", {&x, &weight, &bias}, convolution_backward);
    t.save(node, 0, x);
    t.save(node, 1, weight);
    return t.attach(node, t.empty({x->sizes[0], weight->sizes[0], length}, x->dtype, "aten::convolution"));
  }

  std::int64_t frames_;
  double dropout_;
  std::int32_t module_;
  Weights first_{}, second_{};
  Tensor positions_{};
};

}  // namespace

extern const OpType audio_stem;
const OpType audio_stem{"audio_stem", make_module<AudioStem>};

}  // namespace oomplan::estimator::ops
