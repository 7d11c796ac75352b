// Phi4MultimodalAudioModel: the mask of its layers, which is where frames may see each other, as numbers, and a learned
// bias by their distance for each head (Phi4MultimodalAudioRelativeAttentionBias). Its last dimension is not the one
// that lies densest.
#include "modules/vision.hpp"

namespace oomplan::estimator::ops {
namespace {

class DistanceMask final : public Module {
 public:
  DistanceMask(const Attributes& a, Builder& b) {
    biases_ = b.embedding(a.module() + ".bias_values", {saturating_mul(2, a.integer("distances")), a.integer("heads")});
    const Images& sounds = b.facts.images;
    if (sounds.count == 0) return;
    constexpr std::int64_t longest = 500;  // What is longer the model unfolds into rows of so many.
    if (sounds.tokens > longest) a.unmodelled("sounds of more than 40 seconds, which it cuts into pieces,");
    const Attention kernel = b.facts.tower_attention;
    if (kernel != Attention::sdpa && kernel != Attention::eager) a.unmodelled("sounds with FlashAttention");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    InBucket scores(t, Bucket::attention_scores);
    const std::int64_t clips = s.hidden->sizes[0];
    const std::int64_t length = s.hidden->sizes[1];
    Tensor allowed = s.arguments.mask(Span::full);
    if (clips > 1) {  // The batch says which frames are of a clip then.
      s.sent.push_back(t.empty({clips, 1, length}, DType::boolean, "aten::lt"));
      allowed = t.empty({clips, length, length}, DType::boolean, "aten::bitwise_and");
    }
    const Tensor bias = t.unsqueeze(t.permute(t.embedding(biases_, distances(t, length)), {2, 0, 1}), 0);
    s.arguments.mask(Span::full) = t.add(t.unsqueeze(allowed, 1), bias);
    s.sent.push_back(allowed);
    s.sent.push_back(bias);
  }

 private:
  /// Cut at both ends, and counted from 0.
  static Tensor distances(Torch& t, std::int64_t length) {
    const Dims square{length, length};
    const Tensor context = t.empty({length, 1}, DType::int64, "aten::arange");
    const Tensor memory = t.empty({1, length}, DType::int64, "aten::arange");
    Tensor out = t.empty(square, DType::int64, "aten::sub");
    for (const char* compared : {"aten::lt", "aten::gt"}) {
      const Tensor beyond = t.empty(square, DType::boolean, compared);
      out = t.empty(square, DType::int64, "aten::masked_fill");
    }
    return t.empty(square, DType::int64, "aten::add");
  }

  Tensor biases_{};
};

}  // namespace

extern const OpType distance_mask;
const OpType distance_mask{"distance_mask", make_module<DistanceMask>};

}  // namespace oomplan::estimator::ops
