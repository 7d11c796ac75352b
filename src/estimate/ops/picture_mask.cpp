// generate_block_attention_mask: a square of all patches in the model's dtype, which keeps pictures apart.
#include "play.hpp"

namespace oomplan::estimator::ops {
namespace {

class PictureMask final : public Module {
 public:
  PictureMask(const Attributes&, Builder&) {}
  void forward(Play& play, Stream& s) const override {
    if (play.facts.attention == Attention::flash_attention_2) return;
    InBucket scores(play.torch, Bucket::attention_scores);
    const std::int64_t rows = s.hidden->sizes[1];
    s.arguments.mask(Span::full) = play.torch.empty({1, 1, rows, rows}, s.hidden->dtype, "aten::full");
  }
};

}  // namespace

extern const OpType picture_mask;
const OpType picture_mask{"picture_mask", make_module<PictureMask>};

}  // namespace oomplan::estimator::ops
