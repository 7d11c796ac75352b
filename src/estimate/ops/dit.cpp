// diffusers' DiTTransformer2DModel: patches of latents, blocks that are each told the timestep and the class by an
// embedding of its own, and patches again.
#include "modules/ada_norm.hpp"
#include "modules/checkpointed.hpp"
#include "modules/diffusers_attention.hpp"
#include "modules/latents.hpp"
#include "modules/pictures.hpp"
#include "modules/timesteps.hpp"

namespace oomplan::estimator::ops {
namespace {

constexpr std::int64_t wave_width = 256;
constexpr std::int64_t most_blocks = 256;

/// CombinedTimestepLabelEmbeddings.
class DitCondition {
 public:
  DitCondition(Builder& b, const std::string& name, std::int64_t width, std::int64_t classes)
      : time_(b, name + ".timestep_embedder", wave_width, width),
        table_(b.embedding(name + ".class_embedder.embedding_table", {classes + 1, width})) {}

  Tensor operator()(Play& play, const Tensor& steps, const Tensor& classes, DType dtype) const {
    Torch& t = play.torch;
    const Tensor waves = t.to(timestep_waves(t, steps, wave_width, true), dtype);
    const Tensor time = time_(play, waves);
    const Tensor kept = t.empty(classes->sizes, DType::int64, "aten::where");  // Some classes are dropped.
    return t.add(time, t.embedding(table_, kept));
  }

 private:
  TimestepEmbedding time_;
  Tensor table_{};
};

/// BasicTransformerBlock with norm_type="ada_norm_zero".
class DitBlock {
 public:
  DitBlock(Builder& b, const std::string& name, std::int64_t width, std::int64_t heads, std::int64_t classes, bool bias)
      : module_(b.module_id(name)),
        condition_(b, name + ".norm1.emb", width, classes),
        norm1_(b, name + ".norm1", width, 6),
        attention_(b, name + ".attn1", {.width = width, .of = width, .heads = heads, .bias = bias}),
        norm3_(b, name + ".norm3", width, Affine::none),
        feed_(b, name + ".ff", width) {}

  const DitCondition& condition() const { return condition_; }

  Tensor operator()(Play& play, const Tensor& x, const Tensor& steps, const Tensor& classes) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    std::vector<Tensor> parts;
    Tensor normed;
    {
      Tensor embedding = condition_(play, steps, classes, x->dtype);
      parts = norm1_.parts(play, embedding);
      embedding.reset();
      normed = modulated(t, norm1_.normed(play, x), parts[0], parts[1]);
    }
    Tensor attended = attention_(play, normed, {});
    attended = t.mul(t.unsqueeze(parts[2], 1), attended);
    Tensor hidden = t.add(attended, x);
    normed = norm3_(play, hidden);
    normed = modulated(t, normed, parts[3], parts[4]);
    Tensor fed = feed_(play, normed);
    fed = t.mul(t.unsqueeze(parts[5], 1), fed);
    return t.add(fed, hidden);
  }

 private:
  std::int32_t module_;
  DitCondition condition_;
  AdaNorm norm1_;
  DiffusersAttention attention_;
  LayerNorm norm3_;
  GeluFeedForward feed_;
};

class Dit final : public Module {
 public:
  Dit(const Attributes& a, Builder& b)
      : channels_(a.integer("channels")), out_channels_(a.integer("out")), patch_(a.integer("patch")) {
    if (b.facts.attention != Attention::sdpa) a.unmodelled("kinds of attention other than sdpa (AttnProcessor2_0)");
    if (b.facts.checkpointing && b.facts.reentrant) a.unmodelled("reentrant checkpoints, which diffusers has not,");
    if (out_channels_ != channels_ && out_channels_ != saturating_mul(channels_, 2))
      a.unmodelled("channels out that are neither those in nor twice as many,");
    const std::int64_t sample = a.integer("sample_size");
    const PictureSize size = latent_size(b, sample);
    if (size.height != sample || size.width != sample) {
      a.unmodelled("pictures of another size than its sample_size");
      return;
    }
    if (patch_ > sample || sample % patch_ != 0) {
      a.unmodelled("patches that do not fill its latents");
      return;
    }
    side_ = sample / patch_;
    const std::int64_t heads = a.integer("heads");
    width_ = saturating_mul(heads, a.integer("head_dim"));
    const std::int64_t layers = a.integer("layers");
    if (layers > most_blocks) {
      a.unmodelled("so many blocks");
      return;
    }
    patches_ = Conv2d(b, "pos_embed.proj", {.in = channels_, .out = width_, .kernel = patch_, .stride = patch_});
    {
      Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
      positions_ = b.torch.empty({1, saturating_mul(side_, side_), width_}, b.facts.weights, "buffer");
    }
    for (std::int64_t i = 0; i < layers; ++i) {
      const std::string name = "transformer_blocks." + std::to_string(i);
      blocks_.emplace_back(b, name, width_, heads, a.integer("classes"), a.flag("bias", true));
    }
    norm_ = LayerNorm(b, "norm_out", width_, Affine::none);
    condition_ = Linear(b, "proj_out_1", width_, saturating_mul(2, width_), true);
    out_ = Linear(b, "proj_out_2", width_, saturating_mul(saturating_mul(patch_, patch_), out_channels_), true);
  }

  void collate(Torch& t, const Facts& f, Stream& s) const override {
    const std::int64_t side = saturating_mul(side_, patch_);
    send_latents(t, f, s, {f.batch, channels_, side, side});
    s.sent.push_back(t.empty({f.batch}, DType::int64, "batch"));
    s.sent.push_back(t.empty({f.batch}, DType::int64, "batch"));
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Tensor steps = s.sent[1];
    const Tensor classes = s.sent[2];
    s.hidden = embedded(play, s.pixels);
    for (const DitBlock& block : blocks_) {
      s.hidden = checkpointed(play, s.hidden, [&block, steps, classes](Play& p, const Tensor& input) {
        return block(p, input, steps, classes);
      });
    }
    const Tensor condition = blocks_.front().condition()(play, steps, classes, s.hidden->dtype);
    const std::vector<Tensor> parts = t.split(condition_(play, t.silu(condition)), width_, 1);
    s.hidden = modulated(t, norm_(play, s.hidden), parts[0], parts[1]);
    s.hidden = out_(play, s.hidden);
    const std::int64_t rows = s.hidden->sizes[0];
    const Tensor patches = t.reshape(s.hidden, {rows, side_, side_, patch_, patch_, out_channels_});
    s.hidden = t.reshape(t.permute(patches, {0, 5, 1, 3, 2, 4}),
                         {rows, out_channels_, saturating_mul(side_, patch_), saturating_mul(side_, patch_)});
  }

 private:
  /// PatchEmbed.
  Tensor embedded(Play& play, const Tensor& x) const {
    Torch& t = play.torch;
    Tensor latent = patches_(play, x);
    latent = t.transpose(t.view(latent, {latent->sizes[0], width_, -1}), 1, 2);
    return t.to(t.add(latent, positions_), latent->dtype);
  }

  std::int64_t channels_;
  std::int64_t out_channels_;
  std::int64_t patch_;
  std::int64_t side_ = 1;
  std::int64_t width_ = 1;
  Conv2d patches_{};
  Tensor positions_{};
  std::vector<DitBlock> blocks_{};
  LayerNorm norm_{};
  Linear condition_{}, out_{};
};

}  // namespace

extern const OpType dit;
const OpType dit{"dit", make_module<Dit>};

}  // namespace oomplan::estimator::ops
