// MPNetEncoder.compute_position_bias: what is added to the products of queries and keys by their distance, copied for
// each row of the batch and shared by all blocks.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class MpnetBias final : public Module {
 public:
  MpnetBias(const Attributes& a, Builder& b) : heads_(a.integer("heads")) {
    distances_ = b.embedding(a.module() + ".relative_attention_bias", {a.integer("buckets"), heads_});
  }

  void forward(Play& play, Stream& s) const override {
    const Facts& f = play.facts;
    InBucket scores(play.torch, Bucket::attention_scores);
    s.arguments.bias = bias(play.torch, f.batch, f.length);
  }

 private:
  Tensor bias(Torch& t, std::int64_t rows, std::int64_t length) const {
    const Dims sizes{length, length};
    const Tensor context = t.empty({length, 1}, DType::int64, "aten::arange");
    const Tensor memory = t.empty({1, length}, DType::int64, "aten::arange");
    const Tensor distances = t.empty(sizes, DType::int64, "aten::sub");
    const Tensor buckets = bucket(t, sizes);
    Tensor values = t.embedding(distances_, buckets);
    values = t.unsqueeze(t.permute(values, {2, 0, 1}), 0);
    return t.contiguous(t.expand(values, {rows, heads_, length, length}));
  }

  /// relative_position_bucket
  static Tensor bucket(Torch& t, const Dims& sizes) {
    const auto next = [&](DType dtype, const char* op) { return t.empty(sizes, dtype, op); };
    Tensor distances = next(DType::int64, "aten::neg");
    Tensor later = t.to(next(DType::boolean, "aten::lt"), DType::int64);
    later = t.mul_scalar(later);
    Tensor buckets = t.add_scalar(later);
    later.reset();
    distances = next(DType::int64, "aten::abs");
    const Tensor small = next(DType::boolean, "aten::lt");
    Tensor large = t.to(distances, DType::fp32);
    for (const char* op : {"aten::div", "aten::log", "aten::div", "aten::mul"}) large = next(DType::fp32, op);
    large = t.to(large, DType::int64);
    large = t.add_scalar(large);
    {
      const Tensor last = next(DType::int64, "aten::full_like");
      large = next(DType::int64, "aten::minimum");
    }
    const Tensor chosen = next(DType::int64, "aten::where");
    return buckets;
  }

  std::int64_t heads_;
  Tensor distances_{};
};

}  // namespace

extern const OpType mpnet_bias;
const OpType mpnet_bias{"mpnet_bias", make_module<MpnetBias>};

}  // namespace oomplan::estimator::ops
