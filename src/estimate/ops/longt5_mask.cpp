// LongT5Stack, of an encoder: the mask as it was sent, or one of ones, and for local attention what each block may see
// of the three around it (_get_local_attention_mask).
#include "modules/local_blocks.hpp"

namespace oomplan::estimator::ops {
namespace {

class Longt5Mask final : public Module {
 public:
  Longt5Mask(const Attributes& a, Builder&) : kind_(long_attention(a)), block_(a.integer("radius") + 1) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    Tensor mask = s.attention_mask;
    if (!mask && f.mask_sent) {
      Restore bucket(t.recorder.scope.bucket, Bucket::inputs);
      mask = s.attention_mask = t.empty({f.batch, f.length}, DType::int64, "batch");
    }
    if (!mask) mask = t.empty({f.batch, f.length}, DType::fp32, "aten::ones");
    s.position_mask = mask;  // The stack's own name for it.
    s.arguments.mask(Span::full) = kind_ == LongAttention::local ? local_mask(t, mask, block_) : mask;
  }

 private:
  LongAttention kind_;
  std::int64_t block_;
};

}  // namespace

extern const OpType longt5_mask;
const OpType longt5_mask{"longt5_mask", make_module<Longt5Mask>};

}  // namespace oomplan::estimator::ops
