// DebertaV2Encoder.forward before its layers: the mask of pairs of tokens, their distances, the embeddings of
// distances, and every hidden state, which the encoder returns.
#include "modules/layer_norm.hpp"

namespace oomplan::estimator::ops {
namespace {

class RelativePositions final : public Module {
 public:
  RelativePositions(const Attributes& a, Builder& b) : relative_(a.flag("relative", true)) {
    if (!relative_) return;
    const std::string m = a.module() + ".";
    const std::int64_t width = a.integer("width");
    const std::int64_t buckets = a.count("buckets");
    const std::int64_t distances = a.count("distances");
    buckets_ = buckets > 0;
    const std::int64_t span = buckets_ ? buckets : distances > 0 ? distances : a.integer("positions");
    embeddings_ = b.embedding(m + "rel_embeddings", {saturating_mul(2, span), width});
    if (a.text("norm", "none").find("layer_norm") != std::string::npos) norm_ = LayerNorm(b, m + "LayerNorm", width);
    if (b.facts.checkpointing && b.facts.reentrant && embeddings_->requires_grad) {
      a.unmodelled("reentrant checkpoints over embeddings of distances, through whose graph backward would go twice,");
    }
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const std::int64_t length = play.facts.length;
    {
      InBucket scores(t, Bucket::attention_scores);
      s.arguments.mask(Span::full) = t.empty({play.facts.batch, 1, length, length}, DType::int64, "aten::mul");
    }
    s.all_hidden = std::vector{s.hidden};
    if (!relative_) return;
    s.arguments.relative = t.unsqueeze(distances(t, length), 0);
    s.arguments.relative_embeddings = norm_ ? norm_(play, embeddings_) : embeddings_;
  }

 private:
  /// build_relative_position, and make_log_bucket_position within it.
  Tensor distances(Torch& t, std::int64_t length) const {
    const Dims sizes{length, length};
    const Tensor queries = t.empty({length}, DType::int64, "aten::arange");
    const Tensor keys = t.empty({length}, DType::int64, "aten::arange");
    Tensor positions = t.empty(sizes, DType::int64, "aten::sub");
    if (!buckets_) return positions;
    const auto next = [&](DType dtype, const char* op) { return t.empty(sizes, dtype, op); };
    const Tensor sign = next(DType::int64, "aten::sign");
    const Tensor absolute = near_or_absolute(t, sizes);
    Tensor log = next(DType::fp32, "aten::div");
    for (const char* op : {"aten::log", "aten::div", "aten::ceil", "aten::mul", "aten::add"})
      log = next(DType::fp32, op);
    Tensor bucket;
    {
      const Tensor small = next(DType::boolean, "aten::le");
      const Tensor exact = next(DType::fp32, "aten::_to_copy");
      const Tensor far = next(DType::fp32, "aten::mul");
      bucket = next(DType::fp32, "aten::where");
    }
    return t.to(bucket, DType::int64);
  }

  static Tensor near_or_absolute(Torch& t, const Dims& sizes) {
    const Tensor below = t.empty(sizes, DType::boolean, "aten::lt");
    const Tensor above = t.empty(sizes, DType::boolean, "aten::gt");
    const Tensor near = t.empty(sizes, DType::boolean, "aten::bitwise_and");
    const Tensor absolute = t.empty(sizes, DType::int64, "aten::abs");
    return t.empty(sizes, DType::int64, "aten::where");
  }

  bool relative_;
  bool buckets_ = false;
  Tensor embeddings_{};
  LayerNorm norm_{};
};

}  // namespace

extern const OpType relative_positions;
const OpType relative_positions{"relative_positions", make_module<RelativePositions>};

}  // namespace oomplan::estimator::ops
