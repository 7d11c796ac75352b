// The beginning of diffusers' UNet2DConditionModel.forward: the embedding of the timesteps, with that of what SDXL adds
// (text_time), and the first convolution. Latents and the text's embeddings come ready made, as training scripts have
// them: a VAE's latents are an eighth of the picture's size.
#include "modules/latents.hpp"
#include "modules/timesteps.hpp"
#include "modules/unet.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::int64_t time_ids = 6;  // Original size, crop and target size.

class UnetStem final : public Module {
 public:
  UnetStem(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")),
        width_(number_in(a, "widths", 0)),
        text_(number_in(a, "text", 0)),
        flips_(a.flag("flips", true)),
        size_(latent_size(b, a.integer("sample_size"))) {
    const std::int64_t time = saturating_mul(width_, 4);
    const std::int64_t kernel = a.integer("kernel", 3);
    convolution_ =
        Conv2d(b, "conv_in", {.in = channels_, .out = width_, .kernel = kernel, .padding = (kernel - 1) / 2});
    time_ = TimestepEmbedding(b, "time_embedding", width_, time);
    if (a.text("added", "") != "text_time") return;
    added_width_ = a.integer("added_width");
    pooled_ = a.integer("added_in") - saturating_mul(time_ids, added_width_);
    if (pooled_ < 1) a.unmodelled("projection_class_embeddings_input_dim without room for a text's embedding");
    added_ = TimestepEmbedding(b, "add_embedding", a.integer("added_in"), time);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    send_latents(t, f, s, {f.batch, channels_, size_.height, size_.width});
    s.sent.push_back(t.empty({f.batch}, DType::int64, "batch"));
    s.sent.push_back(t.empty({f.batch, f.length, text_}, latent_dtype(f), "batch"));
    if (pooled_ == 0) return;
    s.sent.push_back(t.empty({f.batch, pooled_}, latent_dtype(f), "batch"));
    s.sent.push_back(t.empty({f.batch, time_ids}, latent_dtype(f), "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor& steps = s.sent[1];
    const Tensor& text = s.sent[2];
    const Tensor waves = t.to(timestep_waves(t, steps, width_, flips_), s.pixels->dtype);
    Tensor embedding = time_(play, waves);
    if (pooled_ != 0) embedding = t.add(embedding, added(play, s.sent[3], s.sent[4], embedding->dtype));
    s.time_embeds = std::move(embedding);
    s.arguments.encoder = text;
    s.hidden = convolution_(play, s.pixels);
    s.taken_states = {s.hidden};
  }

 private:
  Tensor added(Play& play, const Tensor& pooled, const Tensor& ids, DType dtype) const {
    Torch& t = play.torch;
    const std::int64_t rows = pooled->sizes[0];
    const Tensor waves = t.view(timestep_waves(t, t.view(ids, {-1}), added_width_, flips_), {rows, -1});
    const Tensor both = t.empty({rows, pooled->sizes[1] + waves->sizes[1]}, DType::fp32, "aten::cat");
    return added_(play, t.to(both, dtype));
  }

  std::int64_t channels_;
  std::int64_t width_;
  std::int64_t text_;
  bool flips_;
  PictureSize size_;
  std::int64_t added_width_ = 0;
  std::int64_t pooled_ = 0;  ///< Width of the text's embedding as a whole; 0: nothing is added.
  Conv2d convolution_{};
  TimestepEmbedding time_{}, added_{};
};

}  // namespace

extern const OpType unet_stem;
const OpType unet_stem{"unet_stem", make_module<UnetStem>};

}  // namespace oomplan::estimator::ops
