// create_bidirectional_mask with encoder_hidden_states: which of the encoder's tokens a decoder's may see; nothing
// where no row is padded.
#include "modules/attention_mask.hpp"

namespace oomplan::estimator::ops {
namespace {

class CrossMask final : public Module {
 public:
  CrossMask(const Attributes&, Builder&) {}

  void forward(Play& play, Stream& s) const override {
    Torch& t = play.torch;
    const Facts& f = play.facts;
    if (!f.source_padded) return;
    InBucket scores(t, Bucket::attention_scores);
    const std::int64_t keys = s.arguments.encoder->sizes[1];
    const Tensor yes = t.empty({}, DType::boolean, "aten::new_ones");
    Tensor allowed = both(t, yes, t.empty({1, 1, f.length, 1}, DType::boolean, "aten::ge"));
    allowed = both(t, allowed, t.empty({f.batch, 1, 1, keys}, DType::boolean, "aten::index"));
    const Dims sizes{f.batch, 1, f.length, keys};
    const bool additive = f.attention == Attention::eager;
    s.arguments.cross_mask =
        additive ? t.empty(sizes, s.inputs_embeds->dtype, "aten::where") : t.expand(allowed, sizes);
  }
};

}  // namespace

extern const OpType cross_mask;
const OpType cross_mask{"cross_mask", make_module<CrossMask>};

}  // namespace oomplan::estimator::ops
