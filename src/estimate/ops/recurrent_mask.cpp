// transformers masking_utils.create_recurrent_attention_mask: the collator's mask where it has a zero, else nothing;
// some models hand it on without a look (`always`).
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class RecurrentMask final : public Module {
 public:
  RecurrentMask(const Attributes& a, Builder&) : always_(a.flag("always", false)) {}

  void forward(Play& play, Stream& s) const override {
    const Facts& f = play.facts;
    if (always_ && f.mask_sent && !s.attention_mask) {
      Restore bucket(play.torch.recorder.scope.bucket, Bucket::inputs);
      s.attention_mask = play.torch.empty({f.batch, f.length}, DType::int64, "batch");
    }
    s.arguments.recurrent_mask = s.attention_mask;
  }

 private:
  bool always_;
};

}  // namespace

extern const OpType recurrent_mask;
const OpType recurrent_mask{"recurrent_mask", make_module<RecurrentMask>};

}  // namespace oomplan::estimator::ops
