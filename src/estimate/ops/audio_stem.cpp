// WhisperEncoder.forward before its layers: two convolutions over the features of a clip, the second of which halves
// their length, and positions that are frozen.
#include "play.hpp"
#include "torch/convolution.hpp"

namespace oomplan::estimator::ops {
namespace {

class AudioStem final : public Module {
 public:
  AudioStem(const Attributes& a, Builder& b)
      : frames_(a.integer("frames")), dropout_(a.number("dropout", 0.0)), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    first_ = {b.convolution(m + "conv1", {width, a.integer("bins"), 3}),
              b.weight(m + "conv1.bias", {width}, Part::bias)};
    second_ = {b.convolution(m + "conv2", {width, width, 3}), b.weight(m + "conv2.bias", {width}, Part::bias)};
    positions_ = b.frozen(m + "embed_positions.weight", {frames_, width}, Part::embedding);
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const Tensor features = t.view(s.input_ids, {play.facts.batch, -1, saturating_mul(2, frames_)});
    Tensor embeds = conv1d(t, features, first_.weight, first_.bias, 1);
    if (play.facts.input_grads) embeds->requires_grad = true;
    embeds = t.gelu(embeds);
    embeds = t.gelu(conv1d(t, embeds, second_.weight, second_.bias, 1, 2));
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
