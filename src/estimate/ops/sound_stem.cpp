// VoxtralEncoder and Qwen2AudioEncoder before their layers: two convolutions over the spectrogram of each clip, the
// second of which halves its length, and positions that are frozen.
#include "modules/vision.hpp"
#include "torch/convolution.hpp"

namespace oomplan::estimator::ops {
namespace {

class SoundStem final : public Module {
 public:
  SoundStem(const Attributes& a, Builder& b)
      : bins_(a.integer("bins")),
        frames_(a.integer("frames")),
        dropout_(a.number("dropout", 0.0)),
        masked_(a.flag("masked", false)) {
    const std::string m = a.module().substr(0, a.module().rfind("conv1"));
    const std::int64_t width = a.integer("width");
    first_ = {b.convolution(m + "conv1", {width, bins_, 3}), b.weight(m + "conv1.bias", {width}, Part::bias)};
    second_ = {b.convolution(m + "conv2", {width, width, 3}), b.weight(m + "conv2.bias", {width}, Part::bias)};
    positions_ = b.frozen(m + "embed_positions.weight", {frames_, width}, Part::embedding);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    const std::int64_t clips = tiles_of(f);
    send_pixels(t, f, s, {clips, bins_, saturating_mul(2, frames_)});
    if (masked_ && clips > 0) s.sent.push_back(t.empty({clips, saturating_mul(2, frames_)}, DType::int64, "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.pixels = t.to(s.pixels, first_.weight->dtype);
    Tensor embeds = conv1d(t, s.pixels, first_.weight, first_.bias, 1);
    ask_for_gradient(play.facts, embeds);
    embeds = t.gelu(embeds);
    embeds = t.gelu(conv1d(t, embeds, second_.weight, second_.bias, 1, 2));
    s.inputs_embeds = t.permute(embeds, {0, 2, 1});
    embeds.reset();
    s.hidden = t.add(s.inputs_embeds, positions_);
    s.hidden = t.to(s.hidden, s.inputs_embeds->dtype);
    s.hidden = t.dropout(s.hidden, dropout_);
  }

 private:
  struct Weights {
    Tensor weight{};
    Tensor bias{};
  };

  std::int64_t bins_;
  std::int64_t frames_;
  double dropout_;
  bool masked_;  ///< The batch says which frames are of the clip.
  Weights first_{}, second_{};
  Tensor positions_{};
};

}  // namespace

extern const OpType sound_stem;
const OpType sound_stem{"sound_stem", make_module<SoundStem>};

}  // namespace oomplan::estimator::ops
