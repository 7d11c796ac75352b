// diffusers' FluxTransformer2DModel, in the loop of its training scripts: packed latents, a timestep, guidance where
// the checkpoint embeds it, the pooled embedding of a text and those of its tokens, all ready made. Blocks of two
// streams, then blocks of one, each checkpointed by itself.
#include "modules/flux.hpp"

#include "modules/checkpointed.hpp"
#include "modules/latents.hpp"
#include "modules/timesteps.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::int64_t wave_width = 256;
constexpr std::int64_t axes = 3;
constexpr std::int64_t most_blocks = 256;

class Flux final : public Module {
 public:
  Flux(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")),
        text_(a.integer("text")),
        pooled_(a.integer("pooled")),
        head_dim_(a.integer("head_dim")),
        guided_(a.flag("guided", false)),
        size_(latent_size(b, 0, 2)) {
    if (b.facts.attention != Attention::sdpa) a.unmodelled("kinds of attention other than sdpa (FluxAttnProcessor)");
    if (b.facts.checkpointing && b.facts.reentrant) a.unmodelled("reentrant checkpoints, which diffusers has not,");
    const std::int64_t heads = a.integer("heads");
    const std::int64_t width = saturating_mul(heads, head_dim_);
    const std::int64_t layers = a.integer("layers");
    const std::int64_t single = a.integer("single_layers");
    if (layers > most_blocks || single > most_blocks) {
      a.unmodelled("so many blocks");
      return;
    }
    if (a.integer("out") != channels_) a.unmodelled("other channels out than in (Flux Fill, Depth and Canny),");
    std::int64_t turned = 0;
    for (const std::int64_t axis : numbers_in(a, "axes")) turned = saturating_add(turned, axis);
    if (turned != head_dim_) a.unmodelled("axes_dims_rope whose sum is not attention_head_dim,");
    if (channels_ % 4 != 0) {
      a.unmodelled("channels that no square of latents makes");
      return;
    }
    time_ = TimestepEmbedding(b, "time_text_embed.timestep_embedder", wave_width, width);
    if (guided_) guidance_ = TimestepEmbedding(b, "time_text_embed.guidance_embedder", wave_width, width);
    pooled_text_ = TimestepEmbedding(b, "time_text_embed.text_embedder", pooled_, width);
    of_text_ = Linear(b, "context_embedder", text_, width, true);
    of_latents_ = Linear(b, "x_embedder", channels_, width, true);
    for (std::int64_t i = 0; i < layers; ++i)
      blocks_.emplace_back(b, "transformer_blocks." + std::to_string(i), width, heads);
    for (std::int64_t i = 0; i < single; ++i)
      single_.emplace_back(b, "single_transformer_blocks." + std::to_string(i), width, heads);
    norm_ = AdaNorm(b, "norm_out", width, 2);
    out_ = Linear(b, "proj_out", width, a.integer("out"), true);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    const DType dtype = latent_dtype(f);
    send_latents(t, f, s, {f.batch, channels_ / 4, size_.height, size_.width});
    const std::int64_t tokens = saturating_mul(size_.height / 2, size_.width / 2);
    s.pixels = t.empty({f.batch, tokens, channels_}, dtype, "batch");
    s.sent.push_back(t.empty({f.batch}, DType::fp32, "batch"));
    s.sent.push_back(t.empty({f.batch, f.length, text_}, dtype, "batch"));
    s.sent.push_back(t.empty({f.batch, pooled_}, dtype, "batch"));
    s.sent.push_back(t.empty({f.length, axes}, dtype, "batch"));
    s.sent.push_back(t.empty({tokens, axes}, dtype, "batch"));
    s.sent.push_back(t.empty({f.batch}, dtype, "batch"));  // sigmas
    if (guided_) s.sent.push_back(t.empty({f.batch}, DType::fp32, "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    s.hidden = of_latents_(play, s.pixels);
    FluxStreams streams;
    streams.time = embedded_time(play, s, s.hidden->dtype);
    streams.text = of_text_(play, s.sent[2]);
    const std::int64_t length = streams.text->sizes[1] + s.hidden->sizes[1];
    streams.cos = t.empty({length, head_dim_}, DType::fp32, "aten::cat");
    streams.sin = t.empty({length, head_dim_}, DType::fp32, "aten::cat");
    for (const FluxBlock& block : blocks_) run(play, block, s.hidden, streams);
    for (const FluxSingleBlock& block : single_) run(play, block, s.hidden, streams);
    {
      const std::vector<Tensor> parts = norm_.parts(play, streams.time);
      s.hidden = modulated(t, norm_.normed(play, s.hidden), parts[1], parts[0]);
    }
    s.hidden = out_(play, s.hidden);
  }

 private:
  template <class Block>
  static void run(Play& play, const Block& block, Tensor& hidden, FluxStreams& streams) {
    hidden = checkpointed(play, hidden, [&block, given = streams](Play& p, const Tensor& input) {
      FluxStreams own = given;
      Tensor out = block(p, input, own);
      p.torch.beside[0] = std::move(own.text);
      return out;
    });
    streams.text = std::exchange(play.torch.beside[0], {});
  }

  /// CombinedTimestepTextProjEmbeddings, or that with guidance.
  Tensor embedded_time(Play& play, const Stream& s, DType dtype) const {
    Torch& t = play.torch;
    const Tensor& pooled = s.sent[3];
    const auto waves = [&](const Tensor& numbers) {
      const Tensor scaled = t.mul_scalar(t.to(numbers, dtype));
      return t.to(timestep_waves(t, scaled, wave_width, true), pooled->dtype);
    };
    Tensor out = time_(play, waves(s.sent[1]));
    if (guided_) out = t.add(out, guidance_(play, waves(s.sent.back())));
    return t.add(out, pooled_text_(play, pooled));
  }

  std::int64_t channels_;
  std::int64_t text_;
  std::int64_t pooled_;
  std::int64_t head_dim_;
  bool guided_;
  PictureSize size_;
  TimestepEmbedding time_{}, guidance_{}, pooled_text_{};
  Linear of_text_{}, of_latents_{};
  std::vector<FluxBlock> blocks_{};
  std::vector<FluxSingleBlock> single_{};
  AdaNorm norm_{};
  Linear out_{};
};

}  // namespace

extern const OpType flux;
const OpType flux{"flux", make_module<Flux>};

}  // namespace oomplan::estimator::ops
