// Positions counted from the attention mask (OPT): the cumulative sum of one of ones where none was sent. BioGPT makes
// that mask too, but does not count it.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class MaskPositions final : public Module {
 public:
  MaskPositions(const Attributes& a, Builder&) : counted_(a.flag("counted", true)) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Dims sizes{play.facts.batch, play.facts.length};
    if (!s.attention_mask) s.position_mask = t.empty(sizes, DType::fp32, "aten::ones");
    if (!counted_) return;
    const DType dtype = s.attention_mask ? s.attention_mask->dtype : DType::fp32;
    const Tensor sum = t.empty(sizes, dtype, "aten::cumsum");
    const Tensor counted = t.add_scalar(t.mul_scalar(sum));
    s.position_ids = t.to(counted, DType::int64);
    s.arguments.position_ids = s.position_ids;
  }

 private:
  bool counted_;
};

}  // namespace

extern const OpType mask_positions;
const OpType mask_positions{"mask_positions", make_module<MaskPositions>};

}  // namespace oomplan::estimator::ops
