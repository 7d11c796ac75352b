// transformers masking_utils.create_bidirectional_mask: nothing where no row is padded.
#include "modules/attention_mask.hpp"

namespace oomplan::estimator::ops {
namespace {

class BidirectionalMask final : public Module {
 public:
  BidirectionalMask(const Attributes&, Builder&) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    if (!f.padding_mask || f.attention == Attention::flash_attention_2) return;
    InBucket scores(t, Bucket::attention_scores);
    const Tensor every = t.empty({1, 1, f.length, 1}, DType::boolean, "aten::ge");
    s.arguments.mask(Span::full) = attention_mask(play, every, s.hidden->dtype);
  }
};

}  // namespace

extern const OpType bidirectional_mask;
const OpType bidirectional_mask{"bidirectional_mask", make_module<BidirectionalMask>};

}  // namespace oomplan::estimator::ops
