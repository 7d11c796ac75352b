// Qwen3OmniMoeAudioEncoder before its layers: of the frames that are no padding, chunks (chunk_and_pad_features), three
// convolutions over each as over a picture of one channel, so many chunks at once, a layer over what stands above a
// frame then, positions that are no parameters, and what is no padding of that, in one row.
#include "modules/chunks.hpp"
#include "modules/linear.hpp"
#include "modules/pictures.hpp"
#include "modules/vision.hpp"
#include "torch/stacking.hpp"

namespace oomplan::estimator::ops {
namespace {

class ChunkedSpectrogram final : public Module {
 public:
  ChunkedSpectrogram(const Attributes& a, Builder& b)
      : bins_(a.integer("bins")),
        at_once_(std::max<std::int64_t>(a.integer("at_once"), 1)),
        chunks_{.frames = std::max<std::int64_t>(b.facts.images.frames, 1),
                .size = saturating_mul(2, a.integer("window")),
                .times = 3} {
    const std::string m = a.module().substr(0, a.module().rfind("conv2d1"));
    const std::int64_t channels = a.integer("channels");
    const Conv2d::Shape of_one{.in = 1, .out = channels, .kernel = 3, .stride = 2, .padding = 1};
    const Conv2d::Shape of_all{.in = channels, .out = channels, .kernel = 3, .stride = 2, .padding = 1};
    first_ = Conv2d(b, m + "conv2d1", of_one);
    second_ = Conv2d(b, m + "conv2d2", of_all);
    third_ = Conv2d(b, m + "conv2d3", of_all);
    const std::int64_t width = a.integer("width");
    out_ = Linear(b, m + "conv_out", saturating_mul(channels, a.integer("bands")), width, false);
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::weights);
    positions_ = b.torch.empty({a.integer("positions"), width}, DType::fp32, "buffer");
    constexpr std::int64_t most_parts = 256;
    if (divided_up(saturating_mul(tiles_of(b.facts), chunks_.count()), at_once_) > most_parts)
      a.unmodelled("so many sounds, which are convolved part by part");
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    if (f.images.count == 0) return;
    const std::int64_t clips = tiles_of(f);
    send_pixels(t, f, s, {clips, bins_, chunks_.frames});
    s.sent.push_back(t.empty({clips, chunks_.frames}, DType::int32, "batch"));  // feature_attention_mask
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t clips = tiles_of(play.facts);
    const std::int64_t chunks = saturating_mul(clips, chunks_.count());
    s.sent.push_back(real_frames(t, s, clips));
    s.pixels = t.empty({chunks, chunks_.longest(), bins_}, s.pixels->dtype, "aten::pad_sequence");
    const Tensor valid = t.empty({saturating_mul(clips, chunks_.rows()), 1}, DType::int64, "aten::nonzero");
    s.sent.push_back(valid);
    s.pixels = t.to(t.unsqueeze(t.transpose(s.pixels, 1, 2), 1), first_.dtype());
    std::vector<Tensor> parts;
    for (std::int64_t i = 0; i < chunks; i += at_once_)
      parts.push_back(convolved(play, t.slice(s.pixels, 0, i, std::min(at_once_, chunks - i))));
    s.inputs_embeds = cat_all(t, parts, 0);
    s.sent.insert(s.sent.end(), parts.begin(), parts.end());
    const Dims sizes = s.inputs_embeds->sizes;
    Tensor rows = t.contiguous(t.permute(s.inputs_embeds, {0, 3, 1, 2}));
    s.inputs_embeds = out_(play, t.view(std::move(rows), {sizes[0], sizes[3], sizes[1] * sizes[2]}));
    const Tensor first = t.unsqueeze(t.slice(positions_, 0, 0, sizes[3]), 0);
    s.inputs_embeds = t.add(s.inputs_embeds, t.to(first, s.inputs_embeds->dtype));
    const Tensor all = t.reshape(s.inputs_embeds, {-1, s.inputs_embeds->sizes[2]});
    s.hidden = t.index_select(all, t.squeeze(valid, 1));
  }

 private:
  /// input_features.permute(0, 2, 1)[feature_attention_mask.bool()] of Qwen3OmniMoeThinkerModel.get_audio_features.
  Tensor real_frames(Torch& t, const Stream& s, std::int64_t clips) const {
    const std::int64_t frames = saturating_mul(clips, chunks_.frames);
    const Tensor mask = t.empty({clips, chunks_.frames}, DType::boolean, "aten::_to_copy");
    const Tensor places = t.empty({frames, 2}, DType::int64, "aten::nonzero");
    return t.empty({frames, bins_}, s.pixels->dtype, "aten::index");
  }

  Tensor convolved(Play& play, const Tensor& part) const {
    Torch& t = play.torch;
    Tensor embed = first_(play, part);
    ask_for_gradient(play.facts, embed);
    embed = t.gelu(embed);
    embed = t.gelu(second_(play, embed));
    return t.gelu(third_(play, embed));
  }

  std::int64_t bins_;
  std::int64_t at_once_;  ///< So many chunks.
  Chunks chunks_;
  Conv2d first_{}, second_{}, third_{};
  Linear out_{};
  Tensor positions_{};
};

}  // namespace

extern const OpType chunked_spectrogram;
const OpType chunked_spectrogram{"chunked_spectrogram", make_module<ChunkedSpectrogram>};

}  // namespace oomplan::estimator::ops
