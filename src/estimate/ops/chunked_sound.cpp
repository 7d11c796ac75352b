// Qwen2_5OmniAudioEncoder before its layers: of the frames that are no padding, chunks (chunk_and_pad_features), two
// convolutions over each, of which the second halves it, positions that are no parameters, and what is no padding of
// that, in one row.
#include "modules/chunks.hpp"
#include "modules/vision.hpp"
#include "torch/convolution.hpp"

namespace oomplan::estimator::ops {
namespace {

class ChunkedSound final : public Module {
 public:
  ChunkedSound(const Attributes& a, Builder& b)
      : bins_(a.integer("bins")),
        chunks_{std::max<std::int64_t>(b.facts.images.frames, 1), saturating_mul(2, a.integer("window"))} {
    const std::string m = a.module().substr(0, a.module().rfind("conv1"));
    const std::int64_t width = a.integer("width");
    first_ = {b.convolution(m + "conv1", {width, bins_, 3}), b.weight(m + "conv1.bias", {width}, Part::bias)};
    second_ = {b.convolution(m + "conv2", {width, width, 3}), b.weight(m + "conv2.bias", {width}, Part::bias)};
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::weights);
    positions_ = b.torch.empty({a.integer("positions"), width}, DType::fp32, "buffer");
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (f.images.count == 0) return;
    const std::int64_t clips = tiles_of(f);
    send_pixels(t, f, s, {clips, bins_, f.images.room});
    s.sent.push_back(t.empty({clips, f.images.room}, DType::int32, "batch"));  // feature_attention_mask
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t clips = tiles_of(play.facts);
    const std::int64_t chunks = saturating_mul(clips, chunks_.count());
    s.sent.push_back(real_frames(t, s, clips));
    s.pixels = t.transpose(t.empty({chunks, chunks_.longest(), bins_}, s.pixels->dtype, "aten::pad_sequence"), 1, 2);
    const Tensor valid = t.empty({saturating_mul(clips, chunks_.rows()), 1}, DType::int64, "aten::nonzero");
    s.sent.push_back(valid);
    s.position_ids = t.empty({saturating_mul(clips, play.facts.images.tokens)}, DType::int64, "aten::add");
    s.pixels = t.to(s.pixels, first_.weight->dtype);
    const Tensor mask = t.empty({chunks, 1, chunks_.longest()}, DType::int64, "aten::_to_copy");
    s.sent.push_back(mask);
    s.inputs_embeds = convolved(play, s.pixels, mask);
    const Tensor rows = t.reshape(s.inputs_embeds, {-1, s.inputs_embeds->sizes[2]});
    s.hidden = t.index_select(rows, t.squeeze(valid, 1));
  }

 private:
  struct Weights {
    Tensor weight{};
    Tensor bias{};
  };

  /// input_features.permute(0, 2, 1)[feature_attention_mask.bool()] of Qwen2_5OmniThinkerModel.get_audio_features.
  Tensor real_frames(Torch& t, const Stream& s, std::int64_t clips) const {
    const std::int64_t frames = saturating_mul(clips, chunks_.frames);
    const Tensor mask = t.empty({clips, s.pixels->sizes[2]}, DType::boolean, "aten::_to_copy");
    const Tensor places = t.empty({frames, 2}, DType::int64, "aten::nonzero");
    return t.empty({frames, bins_}, s.pixels->dtype, "aten::index");
  }

  Tensor convolved(Play& play, const Tensor& features, const Tensor& mask) const {
    Torch& t = play.torch;
    Tensor embeds = conv1d(t, features, first_.weight, first_.bias, 1);
    ask_for_gradient(play.facts, embeds);
    embeds = t.gelu(embeds);
    embeds = t.mul(embeds, mask);
    embeds = conv1d(t, embeds, second_.weight, second_.bias, 1, 2);
    embeds = t.transpose(t.gelu(embeds), 1, 2);
    const std::int64_t width = embeds->sizes[2];
    const Tensor first = t.view(t.slice(positions_, 0, 0, embeds->sizes[1]), {1, embeds->sizes[1], width});
    return t.add(embeds, t.to(first, embeds->dtype));
  }

  std::int64_t bins_;
  Chunks chunks_;
  Weights first_{}, second_{};
  Tensor positions_{};
};

}  // namespace

extern const OpType chunked_sound;
const OpType chunked_sound{"chunked_sound", make_module<ChunkedSound>};

}  // namespace oomplan::estimator::ops
