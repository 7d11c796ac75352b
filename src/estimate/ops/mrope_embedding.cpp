// Qwen2VLRotaryEmbedding: positions of three kinds (time, row, column), of which each gives its share of cos and sin.
// Qwen3VLTextRotaryEmbedding writes the shares into those of the first (`interleaved`). In transformers 4 each layer
// takes Qwen2-VL's shares out of all three (apply_multimodal_rotary_pos_emb).
#include "oomplan/catalog/older_code.hpp"
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class MropeEmbedding final : public Module {
 public:
  MropeEmbedding(const Attributes& a, Builder& b)
      : half_(a.integer("head_dim") / 2),
        interleaved_(a.flag("interleaved", false)),
        older_(a.find(older_code) != nullptr) {
    Restore bucket(b.torch.recorder.scope.bucket, Bucket::inputs);
    inverse_ = b.torch.empty({half_}, DType::fp32, "buffer");
    original_ = b.torch.empty({half_}, DType::fp32, "buffer");
  }

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    Restore no_grad(t.grad_enabled, false);
    const Facts& f = play.facts;
    // Where rows have no images, positions are those of text, expanded.
    const Dims given = f.images.count > 0 ? Dims{3, f.batch, f.length} : Dims{f.length};
    s.position_ids = t.empty(given, DType::int64, "aten::zeros");
    Tensor positions = t.empty({3, f.batch, f.length, 1}, DType::fp32, "aten::_to_copy");
    const Tensor freqs = t.empty({3, f.batch, f.length, half_}, DType::fp32, "aten::mul");
    positions.reset();
    if (older_) {
      const Tensor both = t.cat({freqs, freqs}, 3);
      const Tensor all_cos = t.mul_scalar(t.pointwise({&both}, DType::fp32, "aten::cos"));
      const Tensor all_sin = t.mul_scalar(t.pointwise({&both}, DType::fp32, "aten::sin"));
      s.arguments.cos[0] = t.to(all_cos, s.hidden->dtype);
      s.arguments.sin[0] = t.to(all_sin, s.hidden->dtype);
      return;
    }
    Tensor cos = t.mul_scalar(t.pointwise({&freqs}, DType::fp32, "aten::cos"));
    Tensor sin = t.mul_scalar(t.pointwise({&freqs}, DType::fp32, "aten::sin"));
    sin = composed(t, f);
    cos = composed(t, f);
    s.arguments.cos[0] = t.to(cos, s.hidden->dtype);
    s.arguments.sin[0] = t.to(sin, s.hidden->dtype);
  }

 private:
  Tensor composed(Torch& t, const Facts& f) const {
    const Tensor shares = interleaved_ ? Tensor{} : t.empty({f.batch, f.length, half_}, DType::fp32, "aten::cat");
    return t.empty({f.batch, f.length, 2 * half_}, DType::fp32, "aten::cat");
  }

  std::int64_t half_;
  bool interleaved_;
  bool older_;
  Tensor inverse_{}, original_{};
};

}  // namespace

extern const OpType mrope_embedding;
const OpType mrope_embedding{"mrope_embedding", make_module<MropeEmbedding>};

}  // namespace oomplan::estimator::ops
