// Qwen2_5OmniAudioAttention: over all clips of a batch in one row, chunk by chunk; Qwen3OmniMoeAudioAttention: by
// windows of several chunks.
#include "modules/chunks.hpp"
#include "modules/linear.hpp"
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class ChunkAttention final : public Module {
 public:
  ChunkAttention(const Attributes& a, Builder& b)
      : heads_(a.integer("heads")), width_(a.integer("width")), module_(b.module_id(a.module())) {
    const std::string m = a.module() + ".";
    k_proj_ = Linear(b, m + "k_proj", width_, width_, a.flag("key_bias", true));
    v_proj_ = Linear(b, m + "v_proj", width_, width_, true);
    q_proj_ = Linear(b, m + "q_proj", width_, width_, true);
    out_proj_ = Linear(b, m + "out_proj", width_, width_, true);
    const Chunks chunks{.frames = std::max<std::int64_t>(b.facts.images.frames, 1),
                        .size = saturating_mul(2, a.integer("window")),
                        .times = a.integer("halved", 1)};
    pieces_ = a.find("seen") == nullptr ? chunks.pieces() : chunks.windows(a.integer("seen"));
  }

  void forward(Play& play, Stream& s) const override { s.hidden = attention(play, s, s.hidden); }

 private:
  Tensor attention(Play& play, Stream& s, const Tensor& x) const {
    Torch& t = play.torch;
    Restore module(t.recorder.scope.module, std::int32_t{module_});
    const std::int64_t rows = x->sizes[0];
    const auto in_heads = [&](const Linear& projection) {
      return t.view(projection(play, x), {rows, heads_, width_ / heads_});
    };
    Tensor q = in_heads(q_proj_);
    Tensor k = in_heads(k_proj_);
    Tensor v = in_heads(v_proj_);
    const Tensor out = attend_one_by_one(play, s, q, k, v, pieces_);
    return out_proj_(play, t.reshape(out, {rows, width_}));
  }

  std::int64_t heads_;
  std::int64_t width_;
  std::int32_t module_;
  Linear k_proj_{}, v_proj_{}, q_proj_{}, out_proj_{};
  std::vector<Pieces> pieces_{};  ///< Of one clip.
};

}  // namespace

extern const OpType chunk_attention;
const OpType chunk_attention{"chunk_attention", make_module<ChunkAttention>};

}  // namespace oomplan::estimator::ops
