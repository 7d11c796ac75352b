// Phi4MultimodalAudioModel before its layers: features less the mean of all, by their deviation, which are buffers
// (Phi4MultimodalAudioMeanVarianceNormLayer); which frames may see each other (_streaming_mask), made on the CPU; three
// convolutions over them as over a picture, each of which halves both sides, the later two channel by channel with one
// of a pixel's channels after them (Phi4MultimodalAudioNemoConvSubsampling); and a layer over what stands above a frame
// then.
#include "modules/activation.hpp"
#include "modules/linear.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class SubsampledSound final : public Module {
 public:
  SubsampledSound(const Attributes& a, Builder& b)
      : bins_(a.integer("bins")),
        frames_(std::max<std::int64_t>(b.facts.images.frames, 1)),
        activation_(find_activation(a.text("activation", "relu"), b)) {
    const std::string m = a.module().substr(0, a.module().rfind("embed"));
    {
      Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
      mean_ = b.torch.empty({bins_}, b.facts.weights, "buffer");
      deviation_ = b.torch.empty({bins_}, b.facts.weights, "buffer");
    }
    const std::int64_t channels = a.integer("channels");
    const Conv2d::Shape of_one{.in = 1, .out = channels, .kernel = 3, .stride = 2, .padding = 1};
    const Conv2d::Shape of_each{
        .in = channels, .out = channels, .kernel = 3, .stride = 2, .padding = 1, .groups = channels};
    const Conv2d::Shape of_pixel{.in = channels, .out = channels, .kernel = 1};
    first_ = Conv2d(b, m + "embed.conv.0", of_one);
    for (std::size_t i = 0; i < halvings_.size(); ++i) {
      const auto name = [&](std::size_t at) { return m + "embed.conv." + std::to_string(3 * i + at); };
      halvings_[i] = {Conv2d(b, name(2), of_each), Conv2d(b, name(3), of_pixel)};
    }
    out_ = Linear(b, m + "embed.out", saturating_mul(channels, a.integer("bands")), a.integer("width"), true);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (f.images.count == 0) return;
    const std::int64_t clips = tiles_of(f);
    send_pixels(t, f, s, {clips, frames_, bins_});
    s.sent.push_back(t.empty({clips}, DType::int64, "batch"));                            // audio_embed_sizes
    if (clips > 1) s.sent.push_back(t.empty({clips, frames_}, DType::boolean, "batch"));  // audio_attention_mask
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.pixels = t.to(s.pixels, play.facts.weights);
    s.inputs_embeds = t.mul(t.sub(s.pixels, mean_), deviation_);
    const std::int64_t clips = s.pixels->sizes[0];
    const std::int64_t length = play.facts.images.tokens;
    s.arguments.mask(Span::full) = t.empty({clips, length, length}, DType::boolean, "aten::_to_copy");
    Tensor x = convolved(play, t.unsqueeze(s.inputs_embeds, 1));
    x = out_(play, t.reshape(t.transpose(x, 1, 2), {x->sizes[0], x->sizes[2], -1}));
    s.inputs_embeds.reset();
    s.hidden = x;
  }

 private:
  struct Halving {
    Conv2d by_channel{};
    Conv2d of_pixel{};
  };

  Tensor convolved(Play& play, Tensor x) const {
    Torch& t = play.torch;
    x = first_(play, x);
    x = activation_(t, x);
    for (const Halving& halving : halvings_) {
      x = halving.by_channel(play, x);
      x = halving.of_pixel(play, x);
      x = activation_(t, x);
    }
    return x;
  }

  std::int64_t bins_;
  std::int64_t frames_;
  Activation activation_;
  Tensor mean_{}, deviation_{};
  Conv2d first_{};
  std::array<Halving, 2> halvings_{};
  Linear out_{};
};

}  // namespace

extern const OpType subsampled_sound;
const OpType subsampled_sound{"subsampled_sound", make_module<SubsampledSound>};

}  // namespace oomplan::estimator::ops
